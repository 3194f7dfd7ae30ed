/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_recording: holds a converted recording of miniflex against what is known of it by other
 * means.
 *
 *   check_recording EVENTS.csv TRUTH_DIR EPOCH_OFFSET_NS < (babeltrace2's text of the same trace)
 *
 * - Every certified row of a control block lies inside its bracket, read from babeltrace2's own
 *   text.
 * - The unwrapped cycles of every certified row are those of the emulator's truth.
 * - The true host time of certified stamps lies inside err_ns: at least 99.9 % of them.
 * - Each rank's counter passed a multiple of 2^32.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv_reader.h"

#define MAX_RANKS 64

struct fact { /* truth of one stamp of one control block, or its bracket */
	uint64_t job;
	uint32_t place;  /* rank (truth) or pid (brackets) */
	uint32_t kind;   /* stamp: 1..5; bracket: 0 */
	uint64_t ticks;  /* bracket: submit_ns */
	int64_t host_ns; /* bracket: complete_ns */
};

struct facts {
	struct fact *all;
	size_t n, n_allocated;
};

static void die(const char *message, const char *what)
{
	fprintf(stderr, "check_recording: %s: %s\n", message, what);
	exit(2);
}

static void add_fact(struct facts *facts, const struct fact *fact)
{
	if (facts->n == facts->n_allocated) {
		facts->n_allocated = facts->n_allocated * 2 + 1024;
		facts->all = realloc(facts->all, facts->n_allocated * sizeof(*fact));
		if (!facts->all)
			die("out of memory", "facts");
	}
	facts->all[facts->n++] = *fact;
}

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static const struct fact *find_fact(const struct facts *facts, uint32_t place, uint64_t job,
                                    uint32_t kind)
{
	const struct fact key = {.place = place, .job = job, .kind = kind};
	return bsearch(&key, facts->all, facts->n, sizeof(key), compare_facts);
}

/* The number behind " <name> = " in a line of babeltrace2's text. */
static uint64_t text_number(const char *line, const char *name)
{
	char pattern[64];
	snprintf(pattern, sizeof(pattern), " %s = ", name);
	const char *at = strstr(line, pattern);
	return at ? strtoull(at + strlen(pattern), NULL, 10) : 0;
}

static void read_brackets(struct facts *brackets)
{
	char *line = NULL;
	size_t n_bytes = 0;
	while (getline(&line, &n_bytes, stdin) > 0) {
		if (!strstr(line, "flextrace:device_op:"))
			continue;
		add_fact(brackets,
		         &(struct fact){.place = (uint32_t)text_number(line, "vpid"),
		                        .job = text_number(line, "job"),
		                        .ticks = text_number(line, "submit_ns"),
		                        .host_ns = (int64_t)text_number(line, "complete_ns")});
	}
	free(line);
	qsort(brackets->all, brackets->n, sizeof(*brackets->all), compare_facts);
}

static FILE *open_truth(const char *dir, uint32_t rank)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/rank%u.csv", dir, rank);
	return fopen(path, "r");
}

static void read_truth(struct facts *truth, const char *dir)
{
	FILE *file;
	for (uint32_t rank = 0; rank < MAX_RANKS && (file = open_truth(dir, rank)); rank++) {
		struct csv_reader reader;
		csv_reader_init(&reader, file, "truth");
		while (csv_reader_next(&reader, NULL) > 0) {
			const char *kind = csv_reader_field(&reader, 2);
			if (strncmp(kind, "ts", 2) || kind[2] < '1' || kind[2] > '5')
				continue;
			add_fact(truth,
			         &(struct fact){
					 .place = rank,
					 .kind = (uint32_t)(kind[2] - '0'),
					 .job = strtoull(csv_reader_field(&reader, 5), NULL, 10),
					 .ticks = strtoull(csv_reader_field(&reader, 6), NULL, 10),
					 .host_ns = strtoll(csv_reader_field(&reader, 7), NULL,
			                                    10)});
		}
		csv_reader_release(&reader);
		fclose(file);
	}
	qsort(truth->all, truth->n, sizeof(*truth->all), compare_facts);
}

/* Which stamps a row of this kind lies between. */
static int stamps_of(const char *kind, uint32_t stamps[2])
{
	static const struct {
		const char *kind;
		uint32_t first, last;
	} pairs[] = {{"DmaI", 1, 2}, {"Prep", 2, 3},        {"Exec", 3, 4},
	             {"DmaO", 4, 5}, {"Memcpy HtoD", 1, 2}, {"Memcpy DtoH", 4, 5}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!strcmp(kind, pairs[i].kind)) {
			stamps[0] = pairs[i].first;
			stamps[1] = pairs[i].last;
			return 1;
		}
	}
	return 0;
}

struct verdict {
	uint64_t rows, certified, stamps, outside_error, outside_bracket, wrong_ticks, no_truth;
	uint64_t min_ticks[MAX_RANKS], max_ticks[MAX_RANKS];
};

/* Columns of events.csv, by name. */
enum { RANK, PID, KIND, JOB, START, END, ERR, STATUS, TS1, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"rank",   "pid",    "kind",   "job", "start_ns",
                                                    "end_ns", "err_ns", "status", "ts1"};

static uint64_t number(const struct csv_reader *row, const size_t *columns, int column)
{
	return strtoull(csv_reader_field(row, columns[column]), NULL, 10);
}

static void check_stamp(struct verdict *verdict, const struct fact *fact, uint64_t ticks,
                        int64_t host_ns, int64_t err_ns)
{
	if (!fact) {
		verdict->no_truth++;
		return;
	}
	verdict->stamps++;
	verdict->wrong_ticks += ticks != fact->ticks;
	int64_t error_ns = llabs(host_ns - fact->host_ns);
	verdict->outside_error += error_ns > err_ns;
}

static void check_row(struct verdict *verdict, const struct csv_reader *row, const size_t *columns,
                      const struct facts *truth, const struct facts *brackets, int64_t offset_ns)
{
	uint32_t stamps[2];
	if (!stamps_of(csv_reader_field(row, columns[KIND]), stamps))
		return;
	verdict->rows++;
	if (strcmp(csv_reader_field(row, columns[STATUS]), "certified"))
		return;
	verdict->certified++;
	const uint32_t rank = (uint32_t)number(row, columns, RANK) % MAX_RANKS;
	const uint64_t job = number(row, columns, JOB);
	const int64_t err_ns = (int64_t)number(row, columns, ERR);
	const int64_t ends[2] = {(int64_t)number(row, columns, START) - offset_ns,
	                         (int64_t)number(row, columns, END) - offset_ns};
	for (int i = 0; i < 2; i++) {
		size_t column = columns[TS1] + stamps[i] - 1;
		uint64_t ticks = strtoull(csv_reader_field(row, column), NULL, 10);
		check_stamp(verdict, find_fact(truth, rank, job, stamps[i]), ticks, ends[i],
		            err_ns);
		if (!verdict->min_ticks[rank] || ticks < verdict->min_ticks[rank])
			verdict->min_ticks[rank] = ticks;
		if (ticks > verdict->max_ticks[rank])
			verdict->max_ticks[rank] = ticks;
	}
	const struct fact *bracket = find_fact(brackets, (uint32_t)number(row, columns, PID), job,
	                                       0);
	if (!bracket || ends[0] < (int64_t)bracket->ticks || ends[1] > bracket->host_ns)
		verdict->outside_bracket++;
}

static void check_events(struct verdict *verdict, const char *path, const struct facts *truth,
                         const struct facts *brackets, int64_t offset_ns)
{
	FILE *file = fopen(path, "r");
	struct csv_reader row;
	size_t columns[N_COLUMNS];
	if (!file)
		die("cannot open", path);
	csv_reader_init(&row, file, path);
	if (csv_reader_next(&row, NULL) <= 0)
		die("empty", path);
	for (int c = 0; c < N_COLUMNS; c++) {
		columns[c] = 0;
		while (columns[c] < row.n_fields &&
		       strcmp(csv_reader_field(&row, columns[c]), column_names[c]))
			columns[c]++;
		if (columns[c] == row.n_fields)
			die("no such column in events.csv", column_names[c]);
	}
	while (csv_reader_next(&row, NULL) > 0)
		check_row(verdict, &row, columns, truth, brackets, offset_ns);
	csv_reader_release(&row);
	fclose(file);
}

static int report(const struct verdict *verdict)
{
	int wraps = 1, n_ranks = 0;
	for (int rank = 0; rank < MAX_RANKS; rank++) {
		if (!verdict->max_ticks[rank])
			continue;
		n_ranks++;
		wraps &= verdict->min_ticks[rank] >> 32 != verdict->max_ticks[rank] >> 32;
	}
	printf("ranks=%d wrapped=%d rows=%" PRIu64 " certified=%" PRIu64 " stamps=%" PRIu64
	       " outside_error=%" PRIu64 " outside_bracket=%" PRIu64 " wrong_ticks=%" PRIu64
	       " without_truth=%" PRIu64 "\n",
	       n_ranks, wraps, verdict->rows, verdict->certified, verdict->stamps,
	       verdict->outside_error, verdict->outside_bracket, verdict->wrong_ticks,
	       verdict->no_truth);
	return n_ranks >= 2 && wraps && verdict->certified && !verdict->outside_bracket &&
	       !verdict->wrong_ticks && !verdict->no_truth &&
	       verdict->outside_error * 1000 <= verdict->stamps;
}

int main(int argc, char **argv)
{
	static struct verdict verdict;
	struct facts truth = {0}, brackets = {0};
	if (argc != 4)
		die("usage", "check_recording EVENTS.csv TRUTH_DIR EPOCH_OFFSET_NS");
	read_brackets(&brackets);
	read_truth(&truth, argv[2]);
	check_events(&verdict, argv[1], &truth, &brackets, strtoll(argv[3], NULL, 10));
	int good = report(&verdict);
	free(truth.all);
	free(brackets.all);
	return good ? 0 : 1;
}
