/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_path.csv: what each step had to wait for, piece by piece; critical_path_summary.csv: how
 * much of it was of each kind, and what took most. See findings/path/path.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "base/map.h"
#include "findings/path/path.h"

/* -- pieces ------------------------------------------------------------------------------------ */

struct piece_row {
	uint32_t process; /* whose path; FLEXTRACE_NONE: of all ranks */
	uint32_t step;    /* string */
	struct path_piece piece;
	double share_percent; /* of the step */
};

static const struct column piece_columns[] = {
	COLUMNS_PROCESS(struct piece_row, process),
	COLUMN_STRING("step", struct piece_row, step),
	COLUMN_TYPED("on_rank", RANK, uint32_t, true, struct piece_row, piece.process),
	COLUMN_NAMED("kind", struct piece_row, piece.kind, path_kind_name),
	COLUMN_STRING("name", struct piece_row, piece.name),
	COLUMN_TIME("start_ns", struct piece_row, piece.start_time_ns),
	COLUMN_TIME("end_ns", struct piece_row, piece.end_time_ns),
	COLUMN_LENGTH("dur_ns", struct piece_row, piece.start_time_ns),
	COLUMN_FIXED(struct piece_row, share_percent, 2),
};

static double percent_of(uint64_t part_ns, const struct path *path)
{
	return 100.0 * (double)part_ns /
	       (double)interval_ns(path->start_time_ns, path->end_time_ns);
}

static void put_pieces(void *context, const struct path *path)
{
	for (uint32_t i = 0; i < path->n_pieces; i++) {
		const struct path_piece *piece = &path->pieces[i];
		struct piece_row row = {path->process, path->name, *piece, 0};

		row.share_percent =
			percent_of(interval_ns(piece->start_time_ns, piece->end_time_ns), path);
		row_put(context, &row);
	}
}

static int fill_pieces(const struct findings *findings, struct row_sink *sink)
{
	return paths_find(findings, UINT32_MAX, put_pieces, sink);
}

/* There may be as many pieces as calls. */
const struct analysis analysis_critical_path = {
	.name = "critical_path",
	.file = {.name = "critical_path.csv",
                 .title = "Critical path",
                 .what = "Each piece of the chain of host calls and device work that a step had "
                         "to wait for, in order of time.",
                 .table = COLUMN_TABLE(piece_columns, fill_pieces)},
	.is_on_demand = true,
};

/* -- sums -------------------------------------------------------------------------------------- */

struct sum { /* of the pieces of one kind and name */
	uint64_t ns;
	uint32_t name;
	uint8_t kind;
};

struct sum_row {
	uint32_t process, step; /* as above */
	int64_t start_time_ns, end_time_ns;
	const char *bound_by; /* the kind that takes most */
	double share_percent; /* of it */
	struct sum most;
	uint64_t ns[PATH_PART_COUNT];
};

#define N_SEEN 1024
#define PART   1024 /* pieces at once */

struct sums {                  /* of a step */
	struct row_sink *sink; /* weak */
	struct map index;      /* (kind, name) -> sum */
	struct sum *all;       /* owned */
	uint32_t n;
	uint32_t seen[N_SEEN]; /* sums that were found last, by kind and name */
	uint64_t kind_ns[PATH_PART_COUNT];
	int code;
};

#define SUM(kind, of) COLUMN_AS(kind "_ns", struct sum_row, ns[of])

static const struct column sum_columns[] = {
	COLUMNS_PROCESS(struct sum_row, process),
	COLUMN_STRING("step", struct sum_row, step),
	COLUMN_TIME("start_ns", struct sum_row, start_time_ns),
	COLUMN_TIME("end_ns", struct sum_row, end_time_ns),
	COLUMN_LENGTH("wall_ns", struct sum_row, start_time_ns),
	COLUMN(struct sum_row, bound_by),
	COLUMN_FIXED(struct sum_row, share_percent, 2),
	COLUMN_NAMED("most_kind", struct sum_row, most.kind, path_kind_name),
	COLUMN_STRING("most_name", struct sum_row, most.name),
	COLUMN_AS("most_ns", struct sum_row, most.ns),
	SUM("host", PATH_HOST),
	SUM("launch_delay", PATH_LAUNCH_DELAY),
	SUM("queue_delay", PATH_QUEUE_DELAY),
	SUM("compute", PATH_COMPUTE),
	SUM("communication", PATH_COMMUNICATION),
	SUM("memory", PATH_MEMORY),
	SUM("prepare", PATH_PREPARE),
	SUM("wait", PATH_WAIT),
	SUM("host_outside", PATH_OUTSIDE),
	SUM("wait_return", PATH_RETURN),
};

/* Finds the sum of a piece: mostly it is still where it was found last. */
static int find_sum(struct sums *sums, uint8_t kind, uint32_t name, uint32_t *ret_at)
{
	uint32_t *seen = &sums->seen[(name ^ kind) % N_SEEN];

	if (*seen < sums->n && sums->all[*seen].name == name && sums->all[*seen].kind == kind) {
		*ret_at = *seen;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(MAP_PLACE(&sums->index, kind, name, sums->all, sums->n, ret_at));
	sums->all[*ret_at].kind = kind;
	sums->all[*ret_at].name = name;
	*seen = *ret_at;
	return FLEXTRACE_OK;
}

static int add_piece(struct sums *sums, const struct path_piece *piece)
{
	uint64_t ns = interval_ns(piece->start_time_ns, piece->end_time_ns);
	uint8_t kind = path_whole_kind(piece->kind);
	uint32_t at;

	sums->kind_ns[kind] += ns;
	if (kind != piece->kind)
		sums->kind_ns[piece->kind] += ns;
	FLEXTRACE_TRY(find_sum(sums, kind, piece->name, &at));
	sums->all[at].ns += ns;
	return FLEXTRACE_OK;
}

/* Whether a sum goes before another one; what has no name goes behind all. */
static bool is_more(const struct sums *sums, const struct sum *a, const struct sum *b)
{
	if (!a->name || !b->name)
		return a->name && a->ns;
	if (a->ns != b->ns)
		return a->ns > b->ns;
	return a->kind != b->kind
	               ? a->kind < b->kind
	               : string_compare(sums->sink->timeline->strings, a->name, b->name) < 0;
}

static void put_sum(void *context, const struct path *path)
{
	struct sums *sums = context;
	struct sum_row row = {.process = path->process,
	                      .step = path->name,
	                      .start_time_ns = path->start_time_ns,
	                      .end_time_ns = path->end_time_ns};
	uint8_t kind = 0;

	for (uint32_t i = 0; i < path->n_pieces && sums->code == FLEXTRACE_OK; i++)
		sums->code = add_piece(sums, &path->pieces[i]);
	if (sums->code < 0 || path->goes_on)
		return;
	memcpy(row.ns, sums->kind_ns, sizeof(row.ns));
	memset(sums->kind_ns, 0, sizeof(sums->kind_ns));
	for (uint8_t i = 1; i < PATH_KIND_COUNT; i++)
		kind = row.ns[i] > row.ns[kind] ? i : kind;
	row.bound_by = path_kind_name(kind);
	row.share_percent = percent_of(row.ns[kind], path);
	row.most = (struct sum){.kind = kind, .ns = row.ns[kind]};
	for (uint32_t i = 0; i < sums->n; i++) {
		row.most = is_more(sums, &sums->all[i], &row.most) ? sums->all[i] : row.most;
		sums->all[i].ns = 0; /* for the next step */
	}
	row_put(sums->sink, &row);
}

static int fill_sums(const struct findings *findings, struct row_sink *sink)
{
	struct sums sums = {.sink = sink};
	int code = paths_find(findings, PART, put_sum, &sums);

	free(sums.all);
	map_release(&sums.index);
	return code < 0 ? code : sums.code;
}

const struct analysis analysis_critical_path_summary = ANALYSIS_CSV(
	"critical_path_summary", sum_columns, fill_sums, .title = "What steps had to wait for",
	.what = "What bounds each step: the chain of host calls and device work that it had to "
		"wait for, walked back from its end, summed up by what it is. The sums add up to "
		"the time of the step.");
