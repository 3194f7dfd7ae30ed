/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flextrace/qemu.h>

#include "miniflex.h"

#define MAX_DRIFT_PPB 1000000

struct flag {
	const char *name, *argument, *help;
	int (*set)(struct options *options, const struct flag *flag, const char *text);
	size_t offset, bytes; /* of the member that it fills */
	long long min, max;   /* of its number */
	const char *choices;  /* "one or other": the number is which of them */
};

/* Takes a number and the separator behind it off the text. */
static int take_number(const struct flag *flag, const char **text, char separator,
                       long long *ret_value)
{
	char *end;
	errno = 0;
	*ret_value = strtoll(*text, &end, 10);
	if (!errno && end != *text && (!*end || *end == separator) && *ret_value >= flag->min &&
	    *ret_value <= flag->max) {
		*text = *end ? end + 1 : end;
		return 0;
	}
	fprintf(stderr, "miniflex: --%s must be a number from %lld to %lld, not '%s'\n", flag->name,
	        flag->min, flag->max, *text);
	return -1;
}

static void store(struct options *options, const struct flag *flag, long long value)
{
	char *member = (char *)options + flag->offset;
	if (flag->bytes == sizeof(bool))
		*(bool *)member = value;
	else if (flag->bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)member = (uint32_t)value;
	else
		*(uint64_t *)(void *)member = (uint64_t)value;
}

static int set_number(struct options *options, const struct flag *flag, const char *text)
{
	long long value;
	if (take_number(flag, &text, '\0', &value))
		return -1;
	store(options, flag, value);
	return 0;
}

static int set_choice(struct options *options, const struct flag *flag, const char *text)
{
	const char *choice = flag->choices;
	for (int i = 0;; i++) {
		size_t n = strcspn(choice, ", ");
		if (strlen(text) == n && !strncmp(text, choice, n)) {
			store(options, flag, i);
			return 0;
		}
		if (!choice[n])
			break;
		choice += n + (choice[n] == ',' ? strlen(", ") : strlen(" or "));
	}
	fprintf(stderr, "miniflex: --%s must be %s, not '%s'\n", flag->name, flag->choices, text);
	return -1;
}

static int set_text(struct options *options, const struct flag *flag, const char *text)
{
	*(const char **)(void *)((char *)options + flag->offset) = text;
	return 0;
}

static int set_true(struct options *options, const struct flag *flag, const char *text)
{
	(void)text;
	store(options, flag, 1);
	return 0;
}

static int set_rates(struct options *options, const struct flag *flag, const char *text)
{
	long long mhz = 0;
	for (uint32_t rank = 0; rank < MINIFLEX_MAX_RANKS; rank++) {
		if ((rank == 0 || *text) && take_number(flag, &text, ',', &mhz))
			return -1;
		options->counter_hz[rank] = (uint64_t)mhz * 1000000;
	}
	return 0;
}

static int add_step(struct options *options, const struct flag *flag, const char *text)
{
	const struct flag drift = {.name = flag->name, .min = -MAX_DRIFT_PPB, .max = MAX_DRIFT_PPB};
	struct flextrace_emulator_step *step = &options->steps[options->n_steps];
	long long at_ms, drift_ppb;
	if (options->n_steps == MINIFLEX_MAX_STEPS) {
		fprintf(stderr, "miniflex: no more than %u --drift-step\n", MINIFLEX_MAX_STEPS);
		return -1;
	}
	if (take_number(flag, &text, ':', &at_ms) || take_number(&drift, &text, '\0', &drift_ppb))
		return -1;
	step->at_ns = (uint64_t)at_ms * 1000000;
	step->drift_ppb = (int32_t)drift_ppb;
	options->n_steps++;
	return 0;
}

static int help(struct options *options, const struct flag *flag, const char *text);

/* clang-format off */
#define AT(member) offsetof(struct options, member), sizeof(((struct options *)0)->member)
#define NOWHERE    0, 0
#define MORE       "\n                     " /* a line of help */
static const struct flag flags[] = {
	{"ranks", "N", "processes (2)", set_number, AT(n_ranks), 1, MINIFLEX_MAX_RANKS, NULL},
	{"iterations", "N", "times the graph is executed (20)",
	 set_number, AT(n_iterations), 0, 1000000, NULL},
	{"kernels", "N", "kernels per iteration (8)", set_number, AT(n_kernels), 1, 100000, NULL},
	{"device", "WHICH", "'emulator', threads of the rank, or 'qemu', RISC-V cores (emulator)",
	 set_choice, AT(is_qemu), 0, 0, "emulator or qemu"},
	{"isa", "NAME", "of QEMU's cores: rv32imac, rv32im or rv64imac (rv32imac)",
	 set_choice, AT(isa), 0, 0, "rv32imac, rv32im or rv64imac"}, /* enum flextrace_qemu_isa */
	{"cores", "N", "cores per device (4); 16 at most with QEMU",
	 set_number, AT(n_cores), 1, FLEXTRACE_EMULATOR_MAX_CORES, NULL},
	{"size", "N", "rows of the square matrices (48)", set_number, AT(size), 1, 256, NULL},
	{"clocks", "WHICH", "counters: one per 'device', or one per 'core' (device)",
	 set_choice, AT(has_core_clocks), 0, 0, "device or core"},
	{"counter-mhz", "N,..", "nominal rate of the counters of rank 0, 1, ... (560);" MORE
	 "the last one is that of all further ranks", set_rates, NOWHERE, 1, 8000, NULL},
	{"wrap-after-ms", "N", "first wrap of the 32-bit counter after start (40)",
	 set_number, AT(wrap_after_ms), 0, 4000000, NULL},
	{"drift-ppb", "N", "how much faster than nominal the counters run (7000)",
	 set_number, AT(drift_ppb), -MAX_DRIFT_PPB, MAX_DRIFT_PPB, NULL},
	{"drift-step", "MS:N",
	 "from MS after start on, they run N ppb faster; may be repeated;" MORE "not with QEMU",
	 add_step, NOWHERE, 0, 4000000, NULL},
	{"idle-ms", "N", "pause after each iteration (0)",
	 set_number, AT(idle_ms), 0, 1000000, NULL},
	{"ring", "N", "marker records per core, a power of two (4096)",
	 set_number, AT(ring_capacity), 16, 1 << 24, NULL},
	{"seed", "N", "of the data (1)", set_number, AT(seed), 0, INT64_MAX, NULL},
	{"truth", "DIR", "write the true host time of every device stamp to DIR/rank<r>.csv",
	 set_text, AT(truth_dir), 0, 0, NULL},
	{"rank", "N", "run only rank N of --ranks, in this process: for launchers",
	 set_number, AT(rank), 0, MINIFLEX_MAX_RANKS - 1, NULL},
	{"join", "FILE", "ranks started with --rank meet in FILE, a new one for each run;" MORE
	 "without it they reduce nothing", set_text, AT(join_path), 0, 0, NULL},
	{"quiet", NULL, "print nothing", set_true, AT(is_quiet), 0, 0, NULL},
	{"help", NULL, "", help, NOWHERE, 0, 0, NULL},
};
/* clang-format on */
#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

static int help(struct options *options, const struct flag *flag, const char *text)
{
	(void)options;
	(void)flag;
	(void)text;
	puts("Usage: miniflex [OPTIONS]\n"
	     "Executes a small graph on a device per rank, instrumented with flextrace.\n");
	for (size_t i = 0; i < N_FLAGS; i++) {
		int n = printf("  --%s%s%s", flags[i].name, flags[i].argument ? "=" : "",
		               flags[i].argument ? flags[i].argument : "");
		printf("%*s%s\n", *flags[i].help ? (int)strlen(MORE) - 1 - n : 0, "",
		       flags[i].help);
	}
	return 1;
}

static int check(const struct options *options)
{
	if (options->rank >= (int32_t)options->n_ranks)
		fprintf(stderr, "miniflex: --rank must be less than --ranks\n");
	else if (options->join_path && options->rank < 0)
		fprintf(stderr, "miniflex: --join needs --rank\n");
	else if (options->is_qemu && options->n_cores > FLEXTRACE_QEMU_MAX_CORES)
		fprintf(stderr, "miniflex: no more than %u --cores with --device=qemu\n",
		        FLEXTRACE_QEMU_MAX_CORES);
	else if (options->is_qemu && options->n_steps)
		fprintf(stderr, "miniflex: --drift-step is not for --device=qemu\n");
	else
		return 0;
	return -1;
}

int options_parse(struct options *options, int argc, char **argv)
{
	struct option longs[N_FLAGS + 1] = {{0}};
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
	for (uint32_t rank = 0; rank < MINIFLEX_MAX_RANKS; rank++)
		options->counter_hz[rank] = 560000000;
	for (size_t i = 0; i < N_FLAGS; i++)
		longs[i] = (struct option){flags[i].name, flags[i].argument != NULL, NULL, (int)i};
	int i, status = 0;
	while (!status && (i = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		status = i == '?' ? -1 : flags[i].set(options, &flags[i], optarg);
	if (status < 0)
		fputs("miniflex: see miniflex --help\n", stderr);
	if (status || optind == argc)
		return status ? status : check(options);
	fprintf(stderr, "miniflex: unexpected argument '%s'\n", argv[optind]);
	return -1;
}
