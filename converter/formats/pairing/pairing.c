/* SPDX-License-Identifier: Apache-2.0 */
#include "pairing.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"

struct rank {
	struct pair_rank pair; /* first: handed out */
	struct pair_list flex, torch;
};

struct file {
	struct pair_list list;
	uint32_t number;
	int32_t told_rank;
	uint32_t rank; /* index, FLEXTRACE_NONE = of nobody */
};

struct pairing {
	struct rank *ranks; /* owned, all */
	uint32_t n_ranks;
	struct file *files;
	uint32_t n_files;
	struct map keys;       /* of Flex */
	struct map rank_index; /* the first time */
	int64_t epoch_ns;
	int64_t first_ns[2]; /* of Flex, torch */
	bool has_first[2];
};

#define NOBODY UINT32_MAX

struct pairing *pairing_new(void)
{
	return calloc(1, sizeof(struct pairing));
}

void pairing_free(struct pairing *pairing)
{
	if (!pairing)
		return;
	for (uint32_t i = 0; i < pairing->n_ranks; i++) {
		free(pairing->ranks[i].flex.events);
		free(pairing->ranks[i].torch.events);
	}
	for (uint32_t i = 0; i < pairing->n_files; i++)
		free(pairing->files[i].list.events);
	free(pairing->ranks);
	free(pairing->files);
	map_release(&pairing->keys);
	map_release(&pairing->rank_index);
	free(pairing);
}

/* -- the first time -------------------------------------------------------------------------- */

static int find_rank(struct pairing *pairing, int32_t rank, struct rank **ret_rank)
{
	uint32_t place;
	int code = MAP_PLACE(&pairing->rank_index, (uint64_t)rank, 0, pairing->ranks,
	                     pairing->n_ranks, &place);

	FLEXTRACE_TRY(code);
	*ret_rank = &pairing->ranks[place];
	(*ret_rank)->pair.rank = rank;
	return FLEXTRACE_OK;
}

int pairing_note_flex(struct pairing *pairing, int32_t rank, const struct pair_event *event)
{
	struct rank *of;

	FLEXTRACE_TRY(find_rank(pairing, rank, &of));
	FLEXTRACE_TRY(map_put(&pairing->keys, event->key, 0, 0));
	return ARRAY_PUSH(of->flex.events, of->flex.n, *event);
}

static int find_file(struct pairing *pairing, uint32_t number, struct file **ret_file)
{
	for (uint32_t i = pairing->n_files; i > 0; i--) {
		*ret_file = &pairing->files[i - 1];
		if ((*ret_file)->number == number)
			return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(ARRAY_PUSH(pairing->files, pairing->n_files,
	                         (struct file){.number = number, .told_rank = -1, .rank = NOBODY}));
	*ret_file = &pairing->files[pairing->n_files - 1];
	return FLEXTRACE_OK;
}

int pairing_note_torch(struct pairing *pairing, uint32_t file, const struct pair_event *event)
{
	struct file *of;

	if (map_find(&pairing->keys, event->key, 0) == MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_file(pairing, file, &of));
	return ARRAY_PUSH(of->list.events, of->list.n, *event);
}

void pairing_see(struct pairing *pairing, enum pair_side side, int64_t begin_ns)
{
	if (pairing->has_first[side] && pairing->first_ns[side] <= begin_ns)
		return;
	pairing->has_first[side] = true;
	pairing->first_ns[side] = begin_ns;
}

int pairing_name_file(struct pairing *pairing, uint32_t file, int32_t rank)
{
	struct file *of;

	FLEXTRACE_TRY(find_file(pairing, file, &of));
	of->told_rank = rank;
	return FLEXTRACE_OK;
}

/* -- whose files ----------------------------------------------------------------------------- */

static uint32_t count_nameless(const struct pairing *pairing)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pairing->n_files; i++)
		n += pairing->files[i].told_rank < 0;
	return n;
}

static uint32_t rank_of(const struct pairing *pairing, const struct file *file)
{
	if (file->told_rank < 0)
		return pairing->n_ranks == 1 && count_nameless(pairing) == 1 ? 0 : NOBODY;
	for (uint32_t i = 0; i < pairing->n_ranks; i++) {
		if (pairing->ranks[i].pair.rank == file->told_rank)
			return i;
	}
	return NOBODY;
}

static int deal_files(struct pairing *pairing)
{
	for (uint32_t i = 0; i < pairing->n_files; i++) {
		struct file *file = &pairing->files[i];
		struct rank *rank;

		file->rank = rank_of(pairing, file);
		if (file->rank == NOBODY)
			continue;
		rank = &pairing->ranks[file->rank];
		rank->pair.n_files++;
		for (uint32_t j = 0; j < file->list.n; j++)
			FLEXTRACE_TRY(ARRAY_PUSH(rank->torch.events, rank->torch.n,
			                         file->list.events[j]));
		free(file->list.events);
		file->list = (struct pair_list){NULL, 0};
	}
	return FLEXTRACE_OK;
}

/* -- solving --------------------------------------------------------------------------------- */

ORDER_BY(compare_ranks, struct rank, pair.rank);

/* From here on Flex's times are torch's, and in the same order. */
static void move_flex(struct rank *rank)
{
	const struct pair_fit *fit = &rank->pair.result.fit;

	for (uint32_t i = 0; i < rank->flex.n; i++) {
		rank->flex.events[i].begin_ns = pair_move(fit, rank->flex.events[i].begin_ns);
		rank->flex.events[i].end_ns = pair_move(fit, rank->flex.events[i].end_ns);
	}
}

static int solve_rank(struct rank *rank)
{
	FLEXTRACE_TRY(pair_align(&rank->flex, &rank->torch, &rank->pair.result));
	move_flex(rank);
	for (uint32_t i = 0; i < rank->torch.n; i++) {
		if (rank->torch.events[i].partner == PAIR_NONE || !rank->torch.events[i].is_device)
			continue;
		rank->pair.device = rank->torch.events[i].tag;
		break;
	}
	return FLEXTRACE_OK;
}

int pairing_solve(struct pairing *pairing, int64_t epoch_ns)
{
	pairing->epoch_ns = epoch_ns;
	if (pairing->n_ranks)
		qsort(pairing->ranks, pairing->n_ranks, sizeof(*pairing->ranks), compare_ranks);
	FLEXTRACE_TRY(deal_files(pairing));
	for (uint32_t i = 0; i < pairing->n_ranks; i++)
		FLEXTRACE_TRY(solve_rank(&pairing->ranks[i]));
	return FLEXTRACE_OK;
}

/* -- the second time ------------------------------------------------------------------------- */

int64_t pairing_epoch_ns(const struct pairing *pairing)
{
	return pairing->epoch_ns;
}

int64_t pairing_flex_epoch_ns(const struct pairing *pairing)
{
	for (uint32_t i = 0; i < pairing->n_ranks; i++) {
		const struct pair_result *result = &pairing->ranks[i].pair.result;

		if (result->n_pairs)
			return pairing->epoch_ns + result->fit.offset_ns;
	}
	return pairing->epoch_ns + pairing->first_ns[1] - pairing->first_ns[0];
}

const struct pair_rank *pairing_rank(const struct pairing *pairing, uint32_t index)
{
	return index < pairing->n_ranks ? &pairing->ranks[index].pair : NULL;
}

static const struct pair_rank *if_paired(const struct pair_rank *rank)
{
	return rank->result.n_pairs ? rank : NULL;
}

const struct pair_rank *pairing_of_rank(const struct pairing *pairing, int32_t rank)
{
	for (uint32_t i = 0; i < pairing->n_ranks; i++) {
		if (pairing->ranks[i].pair.rank == rank)
			return if_paired(&pairing->ranks[i].pair);
	}
	return NULL;
}

const struct pair_rank *pairing_of_file(const struct pairing *pairing, uint32_t file)
{
	for (uint32_t i = 0; i < pairing->n_files; i++) {
		if (pairing->files[i].number == file && pairing->files[i].rank != NOBODY)
			return if_paired(&pairing->ranks[pairing->files[i].rank].pair);
	}
	return NULL;
}

static bool is_before(const void *row, const void *key)
{
	const struct pair_event *at = row, *event = key;

	return at->key < event->key || (at->key == event->key && at->begin_ns < event->begin_ns);
}

const struct pair_event *pairing_partner(struct pairing *pairing, const struct pair_rank *rank,
                                         enum pair_side side, const struct pair_event *event)
{
	struct rank *of = &pairing->ranks[(const struct rank *)rank - pairing->ranks];
	const struct pair_list *list = side == PAIR_TORCH ? &of->torch : &of->flex;
	const struct pair_list *others = side == PAIR_TORCH ? &of->flex : &of->torch;
	/* Where only the begin was moved, the end is off by what the slope makes of the length. */
	double length_ns = (double)(event->end_ns - event->begin_ns);
	int64_t slack_ns = 2 + (int64_t)(fabs(rank->result.fit.slope) * length_ns);

	for (uint32_t i =
	             array_count_before(list->events, list->n, sizeof(*event), is_before, event);
	     i < list->n; i++) {
		struct pair_event *at = &list->events[i];

		if (at->key != event->key || at->begin_ns != event->begin_ns)
			break;
		if (at->is_taken || llabs(at->end_ns - event->end_ns) > slack_ns)
			continue;
		at->is_taken = true;
		return at->partner == PAIR_NONE ? NULL : &others->events[at->partner];
	}
	return NULL;
}
