/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_recording: holds a converted recording of miniflex against what is known of it by other
 * means.
 *
 *   check_recording DIR TRUTH_DIR EPOCH_OFFSET_NS [AHEAD_NS]
 *       < (babeltrace2's text of the same traces)
 *
 * With AHEAD_NS, the host clock of rank r is r * AHEAD_NS ahead of that of rank 0, whose clock is
 * the reference; brackets then hold within err_ns.
 *
 * - Every certified row of a control block lies inside its bracket, read from babeltrace2's own
 *   text, and was recorded in the clock domain that stamped it.
 * - The unwrapped cycles of every certified row are those of the emulator's truth: of control
 *   blocks the stamps of that job; of the firmware's rows (FW, Kernel, Zone) a stamp of that kind,
 *   core and job. Marks and values (instants.csv, counters.csv) have no cycles in their rows: they
 *   are those of the truth, all of them, in order.
 * - The true host time of certified stamps lies inside err_ns: at least 99.9 % of them.
 * - At least 99 % of the rows are certified: a whole recording has all evidence.
 * - Some counter passed a multiple of 2^32. Which ones do depends on when the first job came; one
 *   of 8 GHz does within 0.6 s.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/csv_reader.h"

#define MAX_RANKS   64
#define MAX_DOMAINS 64
#define MAX_CORES   64

/* What is looked for, in order: stamps of control blocks, those of markers, brackets. */
enum fact_kind {
	BRACKET,
	TS1_FACT,
	TS5_FACT = TS1_FACT + 4,
	FW_FACT,
	KERNEL_FACT,
	ZONE_FACT,
	MARK_FACT,
	VALUE_FACT
};

struct fact { /* truth of one stamp, or the bracket of one control block */
	uint64_t job;
	uint32_t place;  /* rank (truth) or pid (brackets) */
	uint32_t kind;   /* enum fact_kind */
	uint32_t is_end; /* markers: 1 = of the end of the interval */
	uint32_t core;   /* markers */
	uint64_t key;    /* zones: ticks, as a job has many; marks and values: their number */
	uint32_t domain;
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

/* Numbers marks and values of a core, which come in order. */
struct numbers {
	uint64_t next[2][MAX_RANKS][MAX_CORES];
};

static void number_point(struct numbers *numbers, struct fact *fact)
{
	fact->key = numbers->next[fact->kind - MARK_FACT][fact->place % MAX_RANKS]
	                         [fact->core % MAX_CORES]++;
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

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int order = compare(x->place, y->place);
	order = order ? order : compare(x->job, y->job);
	order = order ? order : compare(x->kind, y->kind);
	order = order ? order : compare(x->is_end, y->is_end);
	order = order ? order : compare(x->core, y->core);
	return order ? order : compare(x->key, y->key);
}

static const struct fact *find_fact(const struct facts *facts, const struct fact *wanted)
{
	return bsearch(wanted, facts->all, facts->n, sizeof(*wanted), compare_facts);
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
		                        .domain = (uint32_t)text_number(line, "domain"),
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

/* What a row of the truth is a fact about; 0: nothing that is looked for. */
static int name_fact(const char *kind, struct fact *fact)
{
	static const struct {
		const char *name;
		enum fact_kind kind;
		uint32_t is_end;
	} names[] = {{"fw_start", FW_FACT, 0},         {"fw_end", FW_FACT, 1},
	             {"kernel_start", KERNEL_FACT, 0}, {"kernel_end", KERNEL_FACT, 1},
	             {"zone_begin", ZONE_FACT, 0},     {"zone_end", ZONE_FACT, 1},
	             {"mark", MARK_FACT, 0},           {"value", VALUE_FACT, 0}};
	if (!strncmp(kind, "ts", 2) && kind[2] >= '1' && kind[2] <= '5') {
		fact->kind = (uint32_t)(TS1_FACT + kind[2] - '1');
		return 1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(kind, names[i].name))
			continue;
		fact->kind = names[i].kind;
		fact->is_end = names[i].is_end;
		return 1;
	}
	return 0;
}

static uint64_t truth_number(const struct csv_reader *reader, size_t column)
{
	return strtoull(csv_reader_field(reader, column), NULL, 10);
}

/* device,core,kind,id,run,job,ticks,host_ns,domain */
static void read_truth_row(struct facts *truth, struct numbers *numbers,
                           const struct csv_reader *row, uint32_t rank)
{
	struct fact fact = {.place = rank};
	if (!name_fact(csv_reader_field(row, 2), &fact))
		return;
	fact.job = truth_number(row, 5);
	fact.ticks = truth_number(row, 6);
	fact.host_ns = (int64_t)truth_number(row, 7);
	fact.domain = (uint32_t)truth_number(row, 8);
	if (fact.kind > TS5_FACT) {
		fact.core = (uint32_t)truth_number(row, 1);
		fact.key = fact.ticks;
	}
	if (fact.kind >= MARK_FACT) {
		fact.job = 0;
		number_point(numbers, &fact);
	}
	add_fact(truth, &fact);
}

static void read_truth(struct facts *truth, const char *dir)
{
	static struct numbers numbers;
	FILE *file;
	for (uint32_t rank = 0; rank < MAX_RANKS && (file = open_truth(dir, rank)); rank++) {
		struct csv_reader reader;
		csv_reader_init(&reader, file, "truth");
		while (csv_reader_next(&reader, NULL) > 0)
			read_truth_row(truth, &numbers, &reader, rank);
		csv_reader_release(&reader);
		fclose(file);
	}
	qsort(truth->all, truth->n, sizeof(*truth->all), compare_facts);
}

/* The facts at both ends of a row; 0: a row of another kind. */
static int facts_of(const char *kind, struct fact ends[2])
{
	static const struct {
		const char *kind;
		uint32_t first, last;
	} kinds[] = {{"DmaI", 1, 2}, {"Prep", 2, 3},        {"Exec", 3, 4},
	             {"DmaO", 4, 5}, {"Memcpy HtoD", 1, 5}, {"Memcpy DtoH", 1, 5}};
	static const char *const markers[] = {"FW", "Kernel", "Zone"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kind, kinds[i].kind)) {
			ends[0].kind = TS1_FACT + kinds[i].first - 1;
			ends[1].kind = TS1_FACT + kinds[i].last - 1;
			return 1;
		}
	}
	for (uint32_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
		if (!strcmp(kind, markers[i])) {
			ends[0].kind = ends[1].kind = FW_FACT + i;
			ends[1].is_end = 1;
			return 1;
		}
	}
	return 0;
}

struct counter { /* of one rank and clock domain */
	uint64_t min_ticks, max_ticks;
};

struct verdict {
	uint64_t rows, marker_rows, points, certified, stamps;
	uint64_t outside_error, outside_bracket, wrong_ticks, wrong_domain;
	struct counter counters[MAX_RANKS][MAX_DOMAINS];
};

/* Columns of events.csv, by name. */
enum { RANK, PID, CORE, KIND, JOB, START, END, ERR, STATUS, TS1, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
	"rank", "pid", "core", "kind", "job", "start_ns", "end_ns", "err_ns", "status", "ts1"};

static uint64_t number(const struct csv_reader *row, const size_t *columns, int column)
{
	return strtoull(csv_reader_field(row, columns[column]), NULL, 10);
}

static void check_stamp(struct verdict *verdict, const struct fact *fact, uint64_t ticks,
                        int64_t host_ns, int64_t err_ns)
{
	verdict->stamps++;
	if (!fact || ticks != fact->ticks) { /* markers are found by their ticks */
		verdict->wrong_ticks++;
		return;
	}
	struct counter *counter =
		&verdict->counters[fact->place % MAX_RANKS][fact->domain % MAX_DOMAINS];
	if (!counter->max_ticks || ticks < counter->min_ticks)
		counter->min_ticks = ticks;
	if (ticks > counter->max_ticks)
		counter->max_ticks = ticks;
	int64_t error_ns = llabs(host_ns - fact->host_ns);
	verdict->outside_error += error_ns > err_ns;
}

/* `slack_ns`: by how much the row may stand outside. */
static void check_bracket(struct verdict *verdict, const struct fact *bracket,
                          const int64_t ends_ns[2], int64_t slack_ns, const struct fact *truth)
{
	if (!bracket || ends_ns[0] + slack_ns < (int64_t)bracket->ticks ||
	    ends_ns[1] - slack_ns > bracket->host_ns)
		verdict->outside_bracket++;
	if (bracket && truth && bracket->domain != truth->domain)
		verdict->wrong_domain++;
}

/* Cycles of an end of the row: of a control block its stamp, of a marker row ts1 and ts5. */
static uint64_t ticks_of(const struct csv_reader *row, const size_t *columns,
                         const struct fact *end)
{
	const size_t stamp = end->kind <= TS5_FACT ? end->kind - TS1_FACT : end->is_end ? 4 : 0;
	return strtoull(csv_reader_field(row, columns[TS1] + stamp), NULL, 10);
}

struct known {
	struct facts truth, brackets;
	int64_t offset_ns; /* a time of the output - this = the reference's host clock */
	int64_t ahead_ns;
};

static void check_row(struct verdict *verdict, const struct csv_reader *row, const size_t *columns,
                      const struct known *known)
{
	struct fact ends[2] = {{0}, {0}};
	if (!facts_of(csv_reader_field(row, columns[KIND]), ends))
		return;
	const bool is_marker = ends[0].kind > TS5_FACT;
	verdict->rows++;
	verdict->marker_rows += is_marker;
	if (strcmp(csv_reader_field(row, columns[STATUS]), "certified"))
		return;
	verdict->certified++;
	const int64_t err_ns = (int64_t)number(row, columns, ERR);
	const uint32_t rank = (uint32_t)number(row, columns, RANK);
	const int64_t shift_ns = rank * known->ahead_ns - known->offset_ns;
	const int64_t ends_ns[2] = {(int64_t)number(row, columns, START) + shift_ns,
	                            (int64_t)number(row, columns, END) + shift_ns};
	const struct fact *fact = NULL;
	for (int i = 0; i < 2; i++) {
		const uint64_t ticks = ticks_of(row, columns, &ends[i]);
		ends[i].place = rank;
		ends[i].job = number(row, columns, JOB);
		if (is_marker) {
			ends[i].core = (uint32_t)number(row, columns, CORE);
			ends[i].key = ticks;
		}
		fact = find_fact(&known->truth, &ends[i]);
		check_stamp(verdict, fact, ticks, ends_ns[i], err_ns);
	}
	const struct fact wanted = {.place = (uint32_t)number(row, columns, PID),
	                            .job = ends[0].job};
	if (!is_marker)
		check_bracket(verdict, find_fact(&known->brackets, &wanted), ends_ns,
		              known->ahead_ns ? err_ns : 0, fact);
}

/* A CSV file of the output that is read row by row. */
struct input {
	char path[4096];
	FILE *file;
	struct csv_reader row;
};

static void open_input(struct input *input, const char *dir, const char *name)
{
	snprintf(input->path, sizeof(input->path), "%s/%s", dir, name);
	input->file = fopen(input->path, "r");
	if (!input->file)
		die("cannot open", input->path);
	csv_reader_init(&input->row, input->file, input->path);
	if (csv_reader_next(&input->row, NULL) <= 0)
		die("empty", input->path);
}

static void close_input(struct input *input)
{
	csv_reader_release(&input->row);
	fclose(input->file);
}

static size_t find_column(const struct input *input, const char *name)
{
	for (size_t i = 0; i < input->row.n_fields; i++)
		if (!strcmp(csv_reader_field(&input->row, i), name))
			return i;
	die("no such column", name);
	return 0;
}

static void check_events(struct verdict *verdict, const char *dir, const struct known *known)
{
	struct input input;
	size_t columns[N_COLUMNS];
	open_input(&input, dir, "tables/events.csv");
	for (int c = 0; c < N_COLUMNS; c++)
		columns[c] = find_column(&input, column_names[c]);
	while (csv_reader_next(&input.row, NULL) > 0)
		check_row(verdict, &input.row, columns, known);
	close_input(&input);
}

/* Columns of instants.csv and counters.csv. */
enum { POINT_RANK, POINT_CORE, POINT_TIME, POINT_ERR, POINT_STATUS, N_POINT_COLUMNS };
static const char *const point_columns[N_POINT_COLUMNS] = {"rank", "core", "time_ns", "err_ns",
                                                           "status"};

static void check_point(struct verdict *verdict, const struct csv_reader *row,
                        const size_t *columns, struct fact *wanted, const struct known *known)
{
	const struct fact *fact = find_fact(&known->truth, wanted);
	const int64_t err_ns = (int64_t)number(row, columns, POINT_ERR);
	const int64_t host_ns = (int64_t)number(row, columns, POINT_TIME) - known->offset_ns +
	                        wanted->place * known->ahead_ns;
	verdict->points++;
	if (!fact)
		verdict->wrong_ticks++;
	else if (!strcmp(csv_reader_field(row, columns[POINT_STATUS]), "certified"))
		verdict->outside_error += llabs(host_ns - fact->host_ns) > err_ns;
}

/* Rows with a core are what its markers left. */
static void check_points(struct verdict *verdict, const char *dir, const char *name,
                         enum fact_kind kind, const struct known *known)
{
	static struct numbers numbers;
	struct input input;
	size_t columns[N_POINT_COLUMNS];
	open_input(&input, dir, name);
	for (int c = 0; c < N_POINT_COLUMNS; c++)
		columns[c] = find_column(&input, point_columns[c]);
	while (csv_reader_next(&input.row, NULL) > 0) {
		struct fact wanted = {.kind = kind};
		if (!*csv_reader_field(&input.row, columns[POINT_CORE]))
			continue;
		wanted.place = (uint32_t)number(&input.row, columns, POINT_RANK);
		wanted.core = (uint32_t)number(&input.row, columns, POINT_CORE);
		number_point(&numbers, &wanted);
		check_point(verdict, &input.row, columns, &wanted, known);
	}
	close_input(&input);
}

static uint64_t count_points(const struct facts *truth)
{
	uint64_t n = 0;
	for (size_t i = 0; i < truth->n; i++)
		n += truth->all[i].kind >= MARK_FACT;
	return n;
}

/* How many of the counters that were seen passed a multiple of 2^32. */
static int count_wrapped(const struct verdict *verdict, int *ret_n_ranks, int *ret_n_counters)
{
	int wrapped = 0;
	*ret_n_ranks = *ret_n_counters = 0;
	for (int rank = 0; rank < MAX_RANKS; rank++) {
		int n = 0;
		for (int domain = 0; domain < MAX_DOMAINS; domain++) {
			const struct counter *counter = &verdict->counters[rank][domain];
			if (!counter->max_ticks)
				continue;
			n++;
			wrapped += counter->min_ticks >> 32 != counter->max_ticks >> 32;
		}
		*ret_n_ranks += n > 0;
		*ret_n_counters += n;
	}
	return wrapped;
}

static int report(const struct verdict *verdict)
{
	int n_ranks, n_counters;
	int wrapped = count_wrapped(verdict, &n_ranks, &n_counters);
	printf("ranks=%d counters=%d wrapped=%d rows=%" PRIu64 " marker_rows=%" PRIu64
	       " points=%" PRIu64 " certified=%" PRIu64 " stamps=%" PRIu64 " outside_error=%" PRIu64
	       " outside_bracket=%" PRIu64 " wrong_ticks=%" PRIu64 " wrong_domain=%" PRIu64 "\n",
	       n_ranks, n_counters, wrapped, verdict->rows, verdict->marker_rows, verdict->points,
	       verdict->certified, verdict->stamps, verdict->outside_error,
	       verdict->outside_bracket, verdict->wrong_ticks, verdict->wrong_domain);
	return n_ranks >= 2 && wrapped && verdict->marker_rows && verdict->points &&
	       verdict->certified * 100 >= verdict->rows * 99 && !verdict->outside_bracket &&
	       !verdict->wrong_ticks && !verdict->wrong_domain &&
	       verdict->outside_error * 1000 <= verdict->stamps + verdict->points;
}

int main(int argc, char **argv)
{
	static struct verdict verdict;
	struct known known = {0};
	if (argc != 4 && argc != 5)
		die("usage", "check_recording DIR TRUTH_DIR EPOCH_OFFSET_NS [AHEAD_NS]");
	known.offset_ns = strtoll(argv[3], NULL, 10);
	known.ahead_ns = argc == 5 ? strtoll(argv[4], NULL, 10) : 0;
	read_brackets(&known.brackets);
	read_truth(&known.truth, argv[2]);
	check_events(&verdict, argv[1], &known);
	check_points(&verdict, argv[1], "tables/instants.csv", MARK_FACT, &known);
	check_points(&verdict, argv[1], "tables/counters.csv", VALUE_FACT, &known);
	int good = report(&verdict) && verdict.points == count_points(&known.truth);
	free(known.truth.all);
	free(known.brackets.all);
	return good ? 0 : 1;
}
