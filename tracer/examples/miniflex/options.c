/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "miniflex.h"

static const char usage[] =
	"Usage: miniflex [OPTIONS]\n"
	"Executes a small graph on an emulated device per rank, instrumented with flextrace.\n"
	"\n"
	"  --ranks=N          processes (2)\n"
	"  --iterations=N     times the graph is executed (20)\n"
	"  --kernels=N        kernels per iteration (8)\n"
	"  --cores=N          cores per device (4)\n"
	"  --size=N           rows of the square matrices (48)\n"
	"  --counter-mhz=N    nominal rate of the device counter (560)\n"
	"  --wrap-after-ms=N  first wrap of the 32-bit counter after start (40)\n"
	"  --drift-ppb=N      how much faster than nominal the counter runs (7000)\n"
	"  --ring=N           marker records per core, a power of two (4096)\n"
	"  --seed=N           of the data (1)\n"
	"  --truth=DIR        write the true host time of every device stamp to DIR/rank<r>.csv\n"
	"  --quiet            print nothing\n"
	"  --help\n";

enum {
	OPT_RANKS,
	OPT_ITERATIONS,
	OPT_KERNELS,
	OPT_CORES,
	OPT_SIZE,
	OPT_MHZ,
	OPT_WRAP,
	OPT_DRIFT,
	OPT_RING,
	OPT_SEED,
	OPT_TRUTH,
	OPT_QUIET,
	OPT_HELP,
	OPT_COUNT
};

static const struct option long_options[] = {
	[OPT_RANKS] = {"ranks", required_argument, NULL, OPT_RANKS},
	[OPT_ITERATIONS] = {"iterations", required_argument, NULL, OPT_ITERATIONS},
	[OPT_KERNELS] = {"kernels", required_argument, NULL, OPT_KERNELS},
	[OPT_CORES] = {"cores", required_argument, NULL, OPT_CORES},
	[OPT_SIZE] = {"size", required_argument, NULL, OPT_SIZE},
	[OPT_MHZ] = {"counter-mhz", required_argument, NULL, OPT_MHZ},
	[OPT_WRAP] = {"wrap-after-ms", required_argument, NULL, OPT_WRAP},
	[OPT_DRIFT] = {"drift-ppb", required_argument, NULL, OPT_DRIFT},
	[OPT_RING] = {"ring", required_argument, NULL, OPT_RING},
	[OPT_SEED] = {"seed", required_argument, NULL, OPT_SEED},
	[OPT_TRUTH] = {"truth", required_argument, NULL, OPT_TRUTH},
	[OPT_QUIET] = {"quiet", no_argument, NULL, OPT_QUIET},
	[OPT_HELP] = {"help", no_argument, NULL, OPT_HELP},
	[OPT_COUNT] = {NULL, 0, NULL, 0},
};

/* What a numeric option may be. */
static const struct {
	long long min, max;
} ranges[OPT_COUNT] = {
	[OPT_RANKS] = {1, MINIFLEX_MAX_RANKS},
	[OPT_ITERATIONS] = {0, 1000000},
	[OPT_KERNELS] = {1, 100000},
	[OPT_CORES] = {1, FLEXTRACE_EMULATOR_MAX_CORES},
	[OPT_SIZE] = {1, 256},
	[OPT_MHZ] = {1, 8000},
	[OPT_WRAP] = {0, 4000000},
	[OPT_DRIFT] = {-1000000, 1000000},
	[OPT_RING] = {16, 1 << 24},
	[OPT_SEED] = {0, INT64_MAX},
};

static int parse_number(int option, const char *text, long long *ret_value)
{
	char *end;
	errno = 0;
	*ret_value = strtoll(text, &end, 10);
	if (!errno && end != text && !*end && *ret_value >= ranges[option].min &&
	    *ret_value <= ranges[option].max)
		return 0;
	fprintf(stderr, "miniflex: --%s must be a number from %lld to %lld, not '%s'\n",
	        long_options[option].name, ranges[option].min, ranges[option].max, text);
	return -1;
}

static int set_number(struct options *options, int option, const char *text)
{
	long long value;
	if (parse_number(option, text, &value))
		return -1;
	switch (option) {
	case OPT_RANKS:
		options->n_ranks = (uint32_t)value;
		break;
	case OPT_ITERATIONS:
		options->n_iterations = (uint32_t)value;
		break;
	case OPT_KERNELS:
		options->n_kernels = (uint32_t)value;
		break;
	case OPT_CORES:
		options->n_cores = (uint32_t)value;
		break;
	case OPT_SIZE:
		options->size = (uint32_t)value;
		break;
	case OPT_MHZ:
		options->counter_hz = (uint64_t)value * 1000000;
		break;
	case OPT_WRAP:
		options->wrap_after_ms = (uint64_t)value;
		break;
	case OPT_DRIFT:
		options->drift_ppb = (int32_t)value;
		break;
	case OPT_RING:
		options->ring_capacity = (uint32_t)value;
		break;
	default:
		options->seed = (uint64_t)value;
	}
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.n_ranks = 2,
		.n_iterations = 20,
		.n_kernels = 8,
		.n_cores = 4,
		.size = 48,
		.counter_hz = 560000000,
		.wrap_after_ms = 40,
		.drift_ppb = 7000,
		.ring_capacity = 4096,
		.seed = 1,
	};
	int option;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			return 1;
		} else if (option == OPT_TRUTH) {
			options->truth_dir = optarg;
		} else if (option == OPT_QUIET) {
			options->is_quiet = true;
		} else if (option == '?' || set_number(options, option, optarg)) {
			fputs("miniflex: see miniflex --help\n", stderr);
			return -1;
		}
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "miniflex: unexpected argument '%s'\n", argv[optind]);
	return -1;
}
