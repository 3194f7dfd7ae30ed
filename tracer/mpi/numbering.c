/* SPDX-License-Identifier: Apache-2.0 */
#include "numbering.h"

#include <stdlib.h>

/* Messages between two ranks with one tag. */
struct channel {
	struct table_entry entry;
	uint64_t n;       /* sent, or counted */
	uint64_t last_id; /* the last receive that was counted */
};

/* Finds or makes it; without memory nothing more is known. */
static struct channel *channel_of(struct numbering *numbering, struct table *table, int32_t rank,
                                  int32_t tag)
{
	uint64_t key = (uint64_t)(uint32_t)rank << 32 | (uint32_t)tag;
	struct channel *channel = table_find(table, key);

	if (channel)
		return channel;
	channel = calloc(1, sizeof(*channel));
	if (channel && table_put(table, key, &channel->entry) == 0)
		return channel;
	free(channel);
	numbering->is_broken = true;
	return NULL;
}

bool numbering_send(struct numbering *numbering, int32_t destination, int32_t tag,
                    uint64_t *ret_number)
{
	struct channel *channel = channel_of(numbering, &numbering->sent, destination, tag);

	if (!channel || numbering->is_broken)
		return false;
	*ret_number = channel->n++;
	return true;
}

/* -- open receives ----------------------------------------------------------------------------- */

/* Whether a message of a source and tag, or a receive of these, can be meant for a receive. */
static bool may_meet(const struct receive *receive, int32_t source, int32_t tag)
{
	return (receive->source == NUMBERING_ANY || source == NUMBERING_ANY ||
	        receive->source == source) &&
	       (receive->tag == NUMBERING_ANY || tag == NUMBERING_ANY || receive->tag == tag);
}

static void unlink_open(struct numbering *numbering, struct receive *receive)
{
	TAILQ_REMOVE(&numbering->open, receive, link);
	numbering->n_wild -= receive->is_wild;
	numbering_posted(numbering, receive);
}

/* Adds to the numbers of those that are certain to be of a channel, and posted behind a receive. */
static void shift_behind(struct receive *receive, int32_t source, int32_t tag, int step)
{
	for (struct receive *at = TAILQ_NEXT(receive, link); at; at = TAILQ_NEXT(at, link))
		if (!at->is_wild && at->source == source && at->tag == tag)
			at->number += (uint64_t)(int64_t)step;
}

void numbering_post(struct numbering *numbering, struct receive *receive, int32_t source,
                    int32_t tag)
{
	struct channel *channel;

	*receive = (struct receive){
		.id = ++numbering->last_id,
		.source = source,
		.tag = tag,
		.is_wild = source == NUMBERING_ANY || tag == NUMBERING_ANY,
		.is_posting = true,
	};
	if (!numbering->open.tqh_last)
		TAILQ_INIT(&numbering->open);
	for (struct receive *at = TAILQ_FIRST(&numbering->open); at && numbering->n_posting;
	     at = TAILQ_NEXT(at, link))
		if (at->is_posting && may_meet(at, source, tag))
			at->is_doubtful = receive->is_doubtful = true;
	TAILQ_INSERT_TAIL(&numbering->open, receive, link);
	numbering->n_wild += receive->is_wild;
	numbering->n_posting++;
	if (receive->is_wild)
		return;
	channel = channel_of(numbering, &numbering->received, source, tag);
	if (!channel)
		return;
	receive->number = channel->n++;
	channel->last_id = receive->id;
}

void numbering_posted(struct numbering *numbering, struct receive *receive)
{
	numbering->n_posting -= receive->is_posting;
	receive->is_posting = false;
}

static bool has_wild_before(const struct numbering *numbering, const struct receive *receive,
                            int32_t source, int32_t tag)
{
	uint32_t n = numbering->n_wild;

	for (const struct receive *at = TAILQ_FIRST(&numbering->open); n && at != receive;
	     at = TAILQ_NEXT(at, link)) {
		n -= at->is_wild;
		if (at->is_wild && may_meet(at, source, tag))
			return true;
	}
	return false;
}

/* A wildcard is of this channel. False: others were counted that are behind it. */
static bool count_wild(struct numbering *numbering, struct receive *receive, int32_t source,
                       int32_t tag)
{
	struct channel *channel = channel_of(numbering, &numbering->received, source, tag);
	bool is_last;

	if (!channel)
		return false;
	is_last = channel->last_id < receive->id;
	receive->number = channel->n++;
	if (is_last)
		channel->last_id = receive->id;
	else
		shift_behind(receive, source, tag, 1);
	return is_last;
}

bool numbering_complete(struct numbering *numbering, struct receive *receive, int32_t source,
                        int32_t tag)
{
	bool is_known = !receive->is_doubtful;

	if (has_wild_before(numbering, receive, source, tag))
		is_known = false;
	if (receive->is_wild && !count_wild(numbering, receive, source, tag))
		is_known = false;
	unlink_open(numbering, receive);
	return is_known && !numbering->is_broken;
}

void numbering_doubt(struct numbering *numbering, struct receive *receive)
{
	struct channel *channel;

	receive->is_doubtful = true;
	if (receive->is_wild)
		return;
	channel = channel_of(numbering, &numbering->received, receive->source, receive->tag);
	if (channel)
		channel->n--;
	shift_behind(receive, receive->source, receive->tag, -1);
	receive->is_wild = true;
	numbering->n_wild++;
}

void numbering_withdraw(struct numbering *numbering, struct receive *receive)
{
	numbering_doubt(numbering, receive);
	unlink_open(numbering, receive);
}

void numbering_release(struct numbering *numbering)
{
	table_release(&numbering->sent);
	table_release(&numbering->received);
	*numbering = (struct numbering){.n_wild = 0};
}
