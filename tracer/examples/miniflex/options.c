/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flextrace/qemu.h>

#include "miniflex.h"

static const char usage[] =
	"Usage: miniflex [OPTIONS]\n"
	"Executes a small graph on a device per rank, instrumented with flextrace.\n"
	"\n"
	"  --ranks=N          processes (2)\n"
	"  --iterations=N     times the graph is executed (20)\n"
	"  --kernels=N        kernels per iteration (8)\n"
	"  --device=WHICH     'emulator', threads of the rank, or 'qemu', RISC-V cores (emulator)\n"
	"  --isa=NAME         of QEMU's cores: rv32imac, rv32im or rv64imac (rv32imac)\n"
	"  --cores=N          cores per device (4); 16 at most with QEMU\n"
	"  --size=N           rows of the square matrices (48)\n"
	"  --clocks=WHICH     counters: one per 'device', or one per 'core' (device)\n"
	"  --counter-mhz=N,.. nominal rate of the counters of rank 0, 1, ... (560);\n"
	"                     the last one is that of all further ranks\n"
	"  --wrap-after-ms=N  first wrap of the 32-bit counter after start (40)\n"
	"  --drift-ppb=N      how much faster than nominal the counters run (7000)\n"
	"  --drift-step=MS:N  from MS after start on, they run N ppb faster; may be repeated;\n"
	"                     not with QEMU\n"
	"  --idle-ms=N        pause after each iteration (0)\n"
	"  --ring=N           marker records per core, a power of two (4096)\n"
	"  --seed=N           of the data (1)\n"
	"  --truth=DIR        write the true host time of every device stamp to DIR/rank<r>.csv\n"
	"  --rank=N           run only rank N of --ranks, in this process: for launchers\n"
	"  --join=FILE        ranks started with --rank meet in FILE, a new one for each run;\n"
	"                     without it they reduce nothing\n"
	"  --quiet            print nothing\n"
	"  --help\n";

enum {
	OPT_RANKS,
	OPT_ITERATIONS,
	OPT_KERNELS,
	OPT_DEVICE,
	OPT_ISA,
	OPT_CORES,
	OPT_SIZE,
	OPT_CLOCKS,
	OPT_MHZ,
	OPT_WRAP,
	OPT_DRIFT,
	OPT_STEP,
	OPT_IDLE,
	OPT_RING,
	OPT_SEED,
	OPT_TRUTH,
	OPT_RANK,
	OPT_JOIN,
	OPT_QUIET,
	OPT_HELP,
	OPT_COUNT
};

static const struct option long_options[] = {
	[OPT_RANKS] = {"ranks", required_argument, NULL, OPT_RANKS},
	[OPT_ITERATIONS] = {"iterations", required_argument, NULL, OPT_ITERATIONS},
	[OPT_KERNELS] = {"kernels", required_argument, NULL, OPT_KERNELS},
	[OPT_DEVICE] = {"device", required_argument, NULL, OPT_DEVICE},
	[OPT_ISA] = {"isa", required_argument, NULL, OPT_ISA},
	[OPT_CORES] = {"cores", required_argument, NULL, OPT_CORES},
	[OPT_SIZE] = {"size", required_argument, NULL, OPT_SIZE},
	[OPT_CLOCKS] = {"clocks", required_argument, NULL, OPT_CLOCKS},
	[OPT_MHZ] = {"counter-mhz", required_argument, NULL, OPT_MHZ},
	[OPT_WRAP] = {"wrap-after-ms", required_argument, NULL, OPT_WRAP},
	[OPT_DRIFT] = {"drift-ppb", required_argument, NULL, OPT_DRIFT},
	[OPT_STEP] = {"drift-step", required_argument, NULL, OPT_STEP},
	[OPT_IDLE] = {"idle-ms", required_argument, NULL, OPT_IDLE},
	[OPT_RING] = {"ring", required_argument, NULL, OPT_RING},
	[OPT_SEED] = {"seed", required_argument, NULL, OPT_SEED},
	[OPT_TRUTH] = {"truth", required_argument, NULL, OPT_TRUTH},
	[OPT_RANK] = {"rank", required_argument, NULL, OPT_RANK},
	[OPT_JOIN] = {"join", required_argument, NULL, OPT_JOIN},
	[OPT_QUIET] = {"quiet", no_argument, NULL, OPT_QUIET},
	[OPT_HELP] = {"help", no_argument, NULL, OPT_HELP},
	[OPT_COUNT] = {NULL, 0, NULL, 0},
};

/* What a number of an option may be; of --drift-step the time. */
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
	[OPT_STEP] = {0, 4000000},
	[OPT_IDLE] = {0, 1000000},
	[OPT_RANK] = {0, MINIFLEX_MAX_RANKS - 1},
	[OPT_RING] = {16, 1 << 24},
	[OPT_SEED] = {0, INT64_MAX},
};

/* Takes a number and the separator behind it off the text. */
static int take_number(int option, const char **text, char separator, long long *ret_value)
{
	char *end;
	errno = 0;
	*ret_value = strtoll(*text, &end, 10);
	if (!errno && end != *text && (!*end || *end == separator) &&
	    *ret_value >= ranges[option].min && *ret_value <= ranges[option].max) {
		*text = *end ? end + 1 : end;
		return 0;
	}
	fprintf(stderr, "miniflex: --%s must be a number from %lld to %lld, not '%s'\n",
	        long_options[option].name, ranges[option].min, ranges[option].max, *text);
	return -1;
}

static int set_rates(struct options *options, const char *text)
{
	long long mhz = 0;
	for (uint32_t rank = 0; rank < MINIFLEX_MAX_RANKS; rank++) {
		if ((rank == 0 || *text) && take_number(OPT_MHZ, &text, ',', &mhz))
			return -1;
		options->counter_hz[rank] = (uint64_t)mhz * 1000000;
	}
	return 0;
}

static int add_step(struct options *options, const char *text)
{
	struct flextrace_emulator_step *step = &options->steps[options->n_steps];
	long long at_ms, drift_ppb;
	if (options->n_steps == MINIFLEX_MAX_STEPS) {
		fprintf(stderr, "miniflex: no more than %u --drift-step\n", MINIFLEX_MAX_STEPS);
		return -1;
	}
	if (take_number(OPT_STEP, &text, ':', &at_ms) ||
	    take_number(OPT_DRIFT, &text, '\0', &drift_ppb))
		return -1;
	step->at_ns = (uint64_t)at_ms * 1000000;
	step->drift_ppb = (int32_t)drift_ppb;
	options->n_steps++;
	return 0;
}

static int set_clocks(struct options *options, const char *text)
{
	options->has_core_clocks = !strcmp(text, "core");
	if (options->has_core_clocks || !strcmp(text, "device"))
		return 0;
	fprintf(stderr, "miniflex: --clocks must be device or core, not '%s'\n", text);
	return -1;
}

static int set_device(struct options *options, const char *text)
{
	options->is_qemu = !strcmp(text, "qemu");
	if (options->is_qemu || !strcmp(text, "emulator"))
		return 0;
	fprintf(stderr, "miniflex: --device must be emulator or qemu, not '%s'\n", text);
	return -1;
}

static int set_isa(struct options *options, const char *text)
{
	static const char *const names[] = {
		[FLEXTRACE_QEMU_RV32IMAC] = "rv32imac",
		[FLEXTRACE_QEMU_RV32IM] = "rv32im",
		[FLEXTRACE_QEMU_RV64IMAC] = "rv64imac",
	};
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		options->isa = i;
		if (!strcmp(text, names[i]))
			return 0;
	}
	fprintf(stderr, "miniflex: --isa must be rv32imac, rv32im or rv64imac, not '%s'\n", text);
	return -1;
}

static int set_number(struct options *options, int option, const char *text)
{
	long long value;
	if (take_number(option, &text, '\0', &value))
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
	case OPT_WRAP:
		options->wrap_after_ms = (uint64_t)value;
		break;
	case OPT_DRIFT:
		options->drift_ppb = (int32_t)value;
		break;
	case OPT_IDLE:
		options->idle_ms = (uint32_t)value;
		break;
	case OPT_RANK:
		options->rank = (int32_t)value;
		break;
	case OPT_RING:
		options->ring_capacity = (uint32_t)value;
		break;
	default:
		options->seed = (uint64_t)value;
	}
	return 0;
}

static int set_option(struct options *options, int option, const char *text)
{
	switch (option) {
	case OPT_DEVICE:
		return set_device(options, text);
	case OPT_ISA:
		return set_isa(options, text);
	case OPT_CLOCKS:
		return set_clocks(options, text);
	case OPT_MHZ:
		return set_rates(options, text);
	case OPT_STEP:
		return add_step(options, text);
	case OPT_TRUTH:
		options->truth_dir = text;
		return 0;
	case OPT_JOIN:
		options->join_path = text;
		return 0;
	case OPT_QUIET:
		options->is_quiet = true;
		return 0;
	default:
		return set_number(options, option, text);
	}
}

static int check(const struct options *options)
{
	if (options->rank >= (int32_t)options->n_ranks) {
		fprintf(stderr, "miniflex: --rank must be less than --ranks\n");
		return -1;
	}
	if (options->join_path && options->rank < 0) {
		fprintf(stderr, "miniflex: --join needs --rank\n");
		return -1;
	}
	if (options->is_qemu && options->n_cores > FLEXTRACE_QEMU_MAX_CORES) {
		fprintf(stderr, "miniflex: no more than %u --cores with --device=qemu\n",
		        FLEXTRACE_QEMU_MAX_CORES);
		return -1;
	}
	if (options->is_qemu && options->n_steps) {
		fprintf(stderr, "miniflex: --drift-step is not for --device=qemu\n");
		return -1;
	}
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.n_ranks = 2,
		.rank = -1,
		.n_iterations = 20,
		.n_kernels = 8,
		.n_cores = 4,
		.size = 48,
		.wrap_after_ms = 40,
		.drift_ppb = 7000,
		.ring_capacity = 4096,
		.seed = 1,
	};
	set_rates(options, "560");
	int option;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			return 1;
		} else if (option == '?' || set_option(options, option, optarg)) {
			fputs("miniflex: see miniflex --help\n", stderr);
			return -1;
		}
	}
	if (optind == argc)
		return check(options);
	fprintf(stderr, "miniflex: unexpected argument '%s'\n", argv[optind]);
	return -1;
}
