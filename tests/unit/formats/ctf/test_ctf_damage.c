/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ctf_damage [all]: traces of which every file is cut and garbled at many places, `all`: at
 * every byte. Whatever it is, a conversion must end, and end with rows or a message; what a cut
 * takes away is told or counted.
 *
 * Cases are converted one after the other in a child. babeltrace2's reader dies of some: then the
 * case is read again as `flextrace convert` does, with care, and the next child goes on behind it.
 * A child that dies in code of ours has failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "pipeline.h"
#include "reading.h"
#include "scratch.h"

#define MAX_FILE   (64u << 10)
#define N_FILES    5
#define MEMORY     (512u << 20) /* that a child may have: lengths may say anything */
#define OURS_DIED  99
#define CASE_WRONG 98

/* What a length in a garbled packet asks for must fail here as it does without a sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=64:allocator_may_return_null=1";
}

struct file {
	const char *name;
	size_t n;
	uint8_t bytes[MAX_FILE];
};

enum damage_kind { CUT, FLIPPED, ZEROED, FILLED, N_KINDS };

struct damage {
	uint32_t file;
	enum damage_kind kind;
	size_t at; /* byte; of a flip: bit */
};

struct progress { /* shared with the child */
	size_t next;
	uint64_t n_read, n_refused, n_died;
	char complaint[1024];
};

static struct file files[N_FILES] = {{.name = "metadata"},
                                     {.name = "channel0_0"},
                                     {.name = "channel0_1"},
                                     {.name = "index/channel0_0.idx"},
                                     {.name = "index/channel0_1.idx"}};
static const char *trace, *output; /* owned by main */
static struct progress *progress;
static uint64_t n_whole; /* records of the undamaged trace */
static bool is_exhaustive;

/* -- the trace --------------------------------------------------------------------------------- */

static void write_file(const char *name, const uint8_t *bytes, size_t n)
{
	char *path = path_in(trace, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static uint64_t load64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/* An index of a stream file, as LTTng writes it beside. */
static void write_index(const char *name, const struct file *of)
{
	static const size_t sources[] = {56, 48, 32, 40, 72}; /* in a packet */
	uint64_t words[2 + 9 * 16];
	uint32_t head[] = {htobe32(0xC1F1DCC1), htobe32(1), htobe32(1), htobe32(72)};
	size_t n = 2, at = 0, n_sources = sizeof(sources) / sizeof(sources[0]);

	memcpy(words, head, sizeof(head));
	while (at < of->n && n + 9 <= sizeof(words) / sizeof(words[0])) {
		words[n++] = htobe64(at);
		for (size_t i = 0; i < n_sources; i++)
			words[n++] = htobe64(load64(&of->bytes[at + sources[i]]));
		words[n++] = 0;
		words[n++] = htobe64(load64(&of->bytes[at + 24]));
		words[n++] = htobe64(load64(&of->bytes[at + 64]));
		at += load64(&of->bytes[at + 56]) / 8;
	}
	write_file(name, (const uint8_t *)words, n * sizeof(words[0]));
}

static void load_file(struct file *file)
{
	char *bytes = scratch_read(trace, file->name, &file->n);

	assert_non_null(bytes);
	assert_in_range(file->n, 1, MAX_FILE);
	memcpy(file->bytes, bytes, file->n);
	free(bytes);
}

static void make_trace(void)
{
	struct ctf_writer_options options = {
		.dir = trace, .uuid = {1}, .hostname = "node0", .packet_bytes = 1024};
	char *index = path_in(trace, "index");

	write_trace(&options, 2, 2);
	assert_int_equal(mkdir(index, 0777), 0);
	free(index);
	for (int i = 0; i < N_FILES; i++) {
		if (i > 2)
			write_index(files[i].name, &files[i - 2]);
		load_file(&files[i]);
	}
}

static void apply(const struct damage *damage)
{
	const struct file *file = &files[damage->file];
	uint8_t bytes[MAX_FILE];
	size_t n = file->n;

	memcpy(bytes, file->bytes, n);
	if (damage->kind == CUT)
		n = damage->at;
	else if (damage->kind == FLIPPED)
		bytes[damage->at / 8] ^= (uint8_t)(1u << damage->at % 8);
	else
		bytes[damage->at] = damage->kind == ZEROED ? 0 : 0xff;
	write_file(file->name, bytes, n);
}

/* -- one conversion ---------------------------------------------------------------------------- */

static uint64_t count_all(const struct reading *reading)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < reading->set.n_streams; i++)
		n += count_records(reading->set.streams[i]);
	return n;
}

static uint64_t count_lost(const struct ledger *ledger)
{
	uint64_t n = 0;

	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		n += ledger_total(ledger, (enum loss_cause)cause);
	return n;
}

static int convert(struct reading *reading)
{
	const struct pipeline_options options = {
		.emit = {.output_dir = output, .formats = "chrome,csv"},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
	};
	struct pipeline_result result;

	return pipeline_run(&reading->set, reading->strings, &reading->ledger, &options, &result,
	                    &reading->error);
}

static int read_trace(struct reading *reading, bool is_careful)
{
	struct reader_options options = {.traces = &trace,
	                                 .n_traces = 1,
	                                 .n_workers = 1,
	                                 .views = &reading->views,
	                                 .is_careful = is_careful};

	memset(reading, 0, sizeof(*reading));
	reading->strings = string_pool_new();
	ledger_init(&reading->ledger);
	return reader_run(&options, reading->strings, &reading->set, &reading->ledger,
	                  &reading->error);
}

/* Whether the result is one that a user can live with. */
static const char *judge(const struct damage *damage, int code, uint64_t n_read,
                         const struct reading *reading)
{
	if (code < 0 && code != FLEXTRACE_E_INPUT)
		return "it is neither read nor refused";
	if (code < 0)
		return reading->error.message[0] ? NULL : "it is refused without a word";
	if (n_read == 0)
		return "it is an empty success";
	/* Nobody can see that a number was smaller before, but what a cut takes away is seen. */
	if (damage->kind == CUT && n_read < n_whole && count_lost(&reading->ledger) == 0)
		return "records are lost and not counted";
	return NULL;
}

static void run_case(const struct damage *damage, bool is_careful)
{
	struct reading reading;
	const char *wrong;
	uint64_t n_read;
	int code;

	apply(damage);
	code = read_trace(&reading, is_careful);
	n_read = count_all(&reading);
	if (code == 0)
		code = convert(&reading);
	wrong = judge(damage, code, n_read, &reading);
	progress->n_read += code == 0;
	progress->n_refused += code < 0;
	if (wrong)
		snprintf(progress->complaint, sizeof(progress->complaint), "%s: code=%d, %s", wrong,
		         code, reading.error.message);
	reading_release(&reading);
	if (wrong)
		_exit(CASE_WRONG);
}

/* -- children ---------------------------------------------------------------------------------- */

static void on_crash(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	Dl_info where = {0}, here = {0};
	void *pc = NULL;

	(void)info;
#if defined(__x86_64__)
	pc = (void *)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	pc = (void *)at->uc_mcontext.pc;
#else
	(void)at;
#endif
	dladdr((void *)on_crash, &here);
	if (pc && dladdr(pc, &where) && where.dli_fbase == here.dli_fbase)
		_exit(OURS_DIED);
	signal(number, SIG_DFL);
	raise(number);
}

static void prepare_child(void)
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct rlimit nothing = {0, 0};

	setrlimit(RLIMIT_CORE, &nothing);
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_DATA, &(struct rlimit){MEMORY, MEMORY});
#endif
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &action, NULL);
}

/* Runs some cases from progress->next on (babeltrace2 leaves files open when it fails); with care:
 * only that one. Returns the status of the child. */
static int run_child(const struct damage *damages, size_t n, bool is_careful)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		prepare_child();
		n = progress->next + 200 < n ? progress->next + 200 : n;
		for (; progress->next < n; progress->next++) {
			run_case(&damages[progress->next], is_careful);
			if (is_careful)
				break;
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void check_status(int status, const struct damage *damage)
{
	static const char *const kinds[] = {"cut", "bit flipped", "zeroed", "filled"};

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	fail_msg("%s, %s at %zu: exit=%d, signal=%d%s: %s", files[damage->file].name,
	         kinds[damage->kind], damage->at, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	         WIFSIGNALED(status) ? WTERMSIG(status) : 0,
	         WIFEXITED(status) && WEXITSTATUS(status) == OURS_DIED ? ", in our own code" : "",
	         progress->complaint);
}

static void run_cases(const struct damage *damages, size_t n)
{
	*progress = (struct progress){0};
	while (progress->next < n) {
		int status = run_child(damages, n, false);

		if (!WIFSIGNALED(status)) {
			check_status(status, &damages[progress->next]);
			continue;
		}
		status = run_child(damages, n, true);
		check_status(status, &damages[progress->next]);
		progress->n_died++;
		progress->next++;
	}
}

/* -- which cases ------------------------------------------------------------------------------- */

/* `n` of `range` places: all different, and no two in the same place of a word where they could. */
static size_t place(size_t i, size_t n, size_t range)
{
	return n >= range ? i : i * range / n + (i * 7) % (range / n);
}

static size_t add_cases(struct damage *damages, uint32_t file, enum damage_kind kind, size_t n)
{
	size_t range = files[file].n * (kind == FLIPPED ? 8 : 1);

	if (is_exhaustive || n > range)
		n = range;
	for (size_t i = 0; i < n; i++)
		damages[i] = (struct damage){file, kind, place(i, n, range)};
	return n;
}

/* Whatever the test before has left. */
static int restore_files(void **state)
{
	(void)state;
	for (int i = 0; i < N_FILES; i++)
		write_file(files[i].name, files[i].bytes, files[i].n);
	return 0;
}

/* Damages one file in all ways. */
static void damage_file(uint32_t file, const size_t n_of[N_KINDS])
{
	size_t n = 0;
	struct damage *damages = malloc(files[file].n * (N_KINDS + 8) * sizeof(*damages));

	assert_non_null(damages);
	for (int kind = 0; kind < N_KINDS; kind++)
		n += add_cases(&damages[n], file, (enum damage_kind)kind, n_of[kind]);
	run_cases(damages, n);
	print_message("%-21s %6zu cases: %llu read, %llu refused, babeltrace2 died of %llu\n",
	              files[file].name, n, (unsigned long long)progress->n_read,
	              (unsigned long long)progress->n_refused,
	              (unsigned long long)progress->n_died);
	assert_int_equal(progress->n_read + progress->n_refused, n);
	restore_files(NULL);
	free(damages);
}

static void test_ctf_damage__whole_files_are_read_in_full(void **state)
{
	struct reading reading;

	(void)state;
	assert_int_equal(read_trace(&reading, false), 0);
	n_whole = count_all(&reading);
	assert_int_equal(n_whole, 4 * RECORD_CLASS_COUNT);
	assert_int_equal(count_lost(&reading.ledger), 0);
	reading_release(&reading);
	assert_int_equal(read_trace(&reading, true), 0);
	assert_int_equal(count_all(&reading), n_whole);
	reading_release(&reading);
}

static void test_ctf_damage__of_metadata_ends_with_rows_or_a_message(void **state)
{
	(void)state;
	damage_file(0, (const size_t[]){50, 120, 30, 30});
}

static void test_ctf_damage__of_streams_ends_with_rows_or_a_message(void **state)
{
	(void)state;
	damage_file(1, (const size_t[]){50, 120, 40, 40});
	damage_file(2, (const size_t[]){12, 24, 12, 12});
}

static void test_ctf_damage__of_indexes_ends_with_rows_or_a_message(void **state)
{
	(void)state;
	damage_file(3, (const size_t[]){40, 40, 20, 20});
	damage_file(4, (const size_t[]){10, 10, 5, 5});
}

static void test_ctf_damage__of_an_index_costs_nothing_with_care(void **state)
{
	const struct damage damage = {3, FILLED, 16 + 72}; /* where the second packet is */
	struct reading reading;

	(void)state;
	apply(&damage);
	assert_int_equal(read_trace(&reading, true), 0);
	assert_int_equal(count_all(&reading), n_whole);
	assert_int_equal(count_lost(&reading.ledger), 0);
	reading_release(&reading);
}

/* babeltrace2 2.0 returns this packet's events and then its end, with an error that nobody
 * takes. */
static void test_ctf_damage__that_nobody_tells_of_ends_its_stream_only(void **state)
{
	const struct damage damage = {1, FLIPPED, 25248};

	(void)state;
	run_cases(&damage, 1);
	assert_int_equal(progress->n_died, 0);
	assert_int_equal(progress->n_read, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, restore_files)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ctf_damage__whole_files_are_read_in_full),
		TEST(test_ctf_damage__of_metadata_ends_with_rows_or_a_message),
		TEST(test_ctf_damage__of_streams_ends_with_rows_or_a_message),
		TEST(test_ctf_damage__of_indexes_ends_with_rows_or_a_message),
		TEST(test_ctf_damage__that_nobody_tells_of_ends_its_stream_only),
		TEST(test_ctf_damage__of_an_index_costs_nothing_with_care),
	};
	char *dir = scratch_dir();
	int n_failed;

	is_exhaustive = argc > 1 && strcmp(argv[1], "all") == 0;
	trace = path_in(dir, "trace");
	output = path_in(dir, "out");
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                -1, 0);
	make_trace();
	n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(dir);
	return n_failed;
}
