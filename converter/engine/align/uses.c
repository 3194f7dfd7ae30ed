/* SPDX-License-Identifier: Apache-2.0 */
#include "uses.h"

#include <math.h>
#include <stdlib.h>

#include "turns.h"
#include "base/array.h"
#include "base/order.h"

#define NEARER     4      /* times, than any other */
#define APART      200e-6 /* how differently two clocks may run */
#define LEAST      4u     /* uses whose distances say something */
#define MAX_TRIALS (UINT64_C(1) << 24)

/* One moment on two clocks, as near as a message takes. */
struct anchor {
	int64_t ns[2]; /* on the clock of the lower rank, of the higher */
};

/* The uses of one message, in order of time on each side. */
struct message {
	struct message_use *sends, *receives;
	uint32_t n_sends, n_receives;
};

struct pair {                   /* of ranks */
	struct anchor *anchors; /* owned, by time */
	uint32_t n_anchors, n_allocated;
	uint64_t n_lonely;
};

static int64_t low_of(const struct message_use *use)
{
	return use->from < use->to ? use->from : use->to;
}

static int64_t high_of(const struct message_use *use)
{
	return use->from < use->to ? use->to : use->from;
}

static int compare_messages(const struct message_use *a, const struct message_use *b)
{
	return ORDER(low_of(a), low_of(b)) ?: ORDER(high_of(a), high_of(b)) ?:
	       ORDER(a->sync, b->sync) ?: ORDER(a->from, b->from);
}

static int compare_uses(const void *left, const void *right)
{
	const struct message_use *a = left, *b = right;

	return compare_messages(a, b) ?: ORDER(b->is_send, a->is_send) ?:
	       ORDER(a->host_ns, b->host_ns);
}

/* The message whose uses begin there. */
static struct message message_at(struct message_use *uses, uint32_t n)
{
	struct message message = {.sends = uses};
	uint32_t end = 0;

	while (end < n && compare_messages(uses, &uses[end]) == 0)
		message.n_sends += uses[end++].is_send;
	message.receives = uses + message.n_sends;
	message.n_receives = end - message.n_sends;
	return message;
}

static uint32_t n_uses(const struct message *message)
{
	return message->n_sends + message->n_receives;
}

/* -- anchors ----------------------------------------------------------------------------------- */

static int add_anchor(struct pair *pair, const struct message_use *send,
                      const struct message_use *receive)
{
	int low = send->from < send->to ? 0 : 1;
	struct anchor *anchor;

	FLEXTRACE_TRY(ARRAY_RESERVE(pair->anchors, pair->n_allocated, pair->n_anchors + 1ull));
	anchor = &pair->anchors[pair->n_anchors++];
	anchor->ns[low] = send->host_ns;
	anchor->ns[1 - low] = receive->host_ns;
	return FLEXTRACE_OK;
}

static int add_anchors(struct pair *pair, const struct message *message, uint32_t first_send,
                       uint32_t first_receive, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(add_anchor(pair, &message->sends[first_send + i],
		                         &message->receives[first_receive + i]));
	return FLEXTRACE_OK;
}

ORDER_BY(by_time, struct anchor, ns[0]);

/* The nearest one to a time of a clock. */
static const struct anchor *nearest(const struct pair *pair, int clock, int64_t ns)
{
	uint32_t lo = 0, n = pair->n_anchors;

	while (n > 0) {
		uint32_t half = n / 2;

		if (pair->anchors[lo + half].ns[clock] <= ns) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (lo == 0)
		return &pair->anchors[0];
	if (lo == pair->n_anchors ||
	    ns - pair->anchors[lo - 1].ns[clock] < pair->anchors[lo].ns[clock] - ns)
		return &pair->anchors[lo - 1];
	return &pair->anchors[lo];
}

/* -- what is certain --------------------------------------------------------------------------- */

static bool is_certain(const struct message *message)
{
	for (uint32_t i = 0; i < n_uses(message); i++) {
		if (*message->sends[i].is_assumed)
			return false;
	}
	return true;
}

static bool is_single(const struct message *message)
{
	return message->n_sends == 1 && message->n_receives == 1;
}

static bool is_numbered(const struct message *message)
{
	return n_uses(message) && *message->sends->number;
}

/* Anchors of what the turns of a message prove; numbers its uses if all of them agree. */
static int add_proven(struct pair *pair, const struct message *message)
{
	struct turns turns = {
		message->sends, message->receives, message->n_sends, message->n_receives, 0, 0, 0};
	bool is_whole;

	if (is_single(message))
		return add_anchor(pair, message->sends, message->receives);
	if (!message->n_sends || !message->n_receives || !turns_prove(&turns))
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < message->n_receives; i++) {
		const struct message_use *send = &message->sends[(int64_t)i + turns.shift];

		if (turns_agree(&turns, i))
			FLEXTRACE_TRY(add_anchor(pair, send, &message->receives[i]));
	}
	is_whole = turns_agree_throughout(&turns);
	for (uint32_t i = 0; i < message->n_sends && is_whole; i++)
		*message->sends[i].number = *message->receives[i].number = i + 1;
	return FLEXTRACE_OK;
}

/* Uses without a number are no evidence. If nothing at all is proven, messages that came equally
 * often on both sides are evidence, but not certain. */
static void leave_rest(struct pair *pair, const struct message *message)
{
	for (uint32_t i = 0; i < n_uses(message); i++) {
		if (!pair->n_anchors)
			*message->sends[i].is_assumed = true;
		else if (!*message->sends[i].number)
			*message->sends[i].number = UINT64_MAX - pair->n_lonely++;
	}
}

/* -- how many are missing at the begin --------------------------------------------------------- */

/* How badly distances agree if so many of the longer list stand before the shorter one. */
static double disagreement(const struct message_use *longer, const struct message_use *shorter,
                           uint32_t n)
{
	double most_ns = 0;

	for (uint32_t i = 1; i < n; i++) {
		double a_ns = (double)(longer[i].host_ns - longer[i - 1].host_ns);
		double b_ns = (double)(shorter[i].host_ns - shorter[i - 1].host_ns);

		most_ns = fmax(most_ns, fabs(a_ns - b_ns) - APART * fmin(a_ns, b_ns));
	}
	return most_ns;
}

/* False: no shift fits much better than all others. */
static bool find_shift(const struct message_use *longer, uint32_t n_longer,
                       const struct message_use *shorter, uint32_t n, uint32_t *ret_shift)
{
	double best_ns = INFINITY, second_ns = INFINITY;

	if (n < LEAST || (uint64_t)(n_longer - n + 1) * n > MAX_TRIALS)
		return false;
	for (uint32_t i = 0; i + n <= n_longer; i++) {
		double ns = disagreement(longer + i, shorter, n);

		if (ns < best_ns) {
			second_ns = best_ns;
			best_ns = ns;
			*ret_shift = i;
		} else {
			second_ns = fmin(second_ns, ns);
		}
	}
	return NEARER * best_ns < second_ns;
}

static int shift(struct pair *pair, const struct message *message)
{
	bool has_more_sends = message->n_sends > message->n_receives;
	uint32_t n = has_more_sends ? message->n_receives : message->n_sends, at = 0;
	uint32_t n_longer = has_more_sends ? message->n_sends : message->n_receives;
	const struct message_use *longer = has_more_sends ? message->sends : message->receives;
	const struct message_use *shorter = has_more_sends ? message->receives : message->sends;

	if (!find_shift(longer, n_longer, shorter, n, &at))
		return FLEXTRACE_OK;
	return add_anchors(pair, message, has_more_sends ? at : 0, has_more_sends ? 0 : at, n);
}

/* -- matching ---------------------------------------------------------------------------------- */

/* The time at which the other side should see a use; stores how far off that may be. */
static int64_t expect_ns(const struct pair *pair, const struct message_use *send,
                         double *ret_off_ns)
{
	int clock = send->from < send->to ? 0 : 1;
	const struct anchor *anchor = nearest(pair, clock, send->host_ns);
	int64_t since_ns = send->host_ns - anchor->ns[clock];

	*ret_off_ns = APART * fabs((double)since_ns);
	return anchor->ns[1 - clock] + since_ns;
}

/* The smaller distance to a neighbour. */
static double room_of(const struct message_use *uses, uint32_t n, uint32_t i)
{
	double before_ns = i ? (double)(uses[i].host_ns - uses[i - 1].host_ns) : INFINITY;
	double after_ns = i + 1 < n ? (double)(uses[i + 1].host_ns - uses[i].host_ns) : INFINITY;

	return fmin(before_ns, after_ns);
}

static void match(struct pair *pair, const struct message *message)
{
	uint64_t n_matched = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < message->n_sends; i++) {
		double off_ns, room_ns;
		int64_t ns = expect_ns(pair, &message->sends[i], &off_ns);

		while (at + 1 < message->n_receives &&
		       llabs(message->receives[at + 1].host_ns - ns) <=
		               llabs(message->receives[at].host_ns - ns))
			at++;
		room_ns = fmin(room_of(message->sends, message->n_sends, i),
		               room_of(message->receives, message->n_receives, at));
		off_ns += (double)llabs(message->receives[at].host_ns - ns);
		if (*message->receives[at].number || NEARER * off_ns > room_ns)
			continue;
		*message->sends[i].number = *message->receives[at].number = ++n_matched;
	}
	for (uint32_t i = 0; n_matched && i < n_uses(message); i++) {
		if (!*message->sends[i].number)
			*message->sends[i].number = UINT64_MAX - pair->n_lonely++;
	}
}

/* -- the sentence ------------------------------------------------------------------------------ */

/* Whether each of the two ranks is one process: a new one has a new clock. */
static bool is_steady(const struct message_use *uses, uint32_t n)
{
	uint32_t processes[2] = {UINT32_MAX, UINT32_MAX};

	for (uint32_t i = 0; i < n; i++) {
		int side = (uses[i].is_send ? uses[i].from : uses[i].to) == low_of(uses) ? 0 : 1;

		if (processes[side] != UINT32_MAX && processes[side] != uses[i].process)
			return false;
		processes[side] = uses[i].process;
	}
	return true;
}

static bool is_whole(const struct message *message)
{
	return message->n_sends == message->n_receives;
}

static bool has_both(const struct message *message)
{
	return message->n_sends && message->n_receives;
}

static bool is_matchable(const struct message *message)
{
	return !is_whole(message) && has_both(message);
}

static int find_anchors(struct pair *pair, struct message_use *uses, uint32_t n)
{
	struct message message, longest = {.n_sends = 0};

	for (uint32_t at = 0; at < n; at += n_uses(&message)) {
		message = message_at(uses + at, n - at);
		if (is_certain(&message))
			FLEXTRACE_TRY(add_proven(pair, &message));
		else if (is_whole(&message))
			FLEXTRACE_TRY(add_anchors(pair, &message, 0, 0, message.n_sends));
		else if (is_matchable(&message) && n_uses(&message) > n_uses(&longest))
			longest = message;
	}
	if (!pair->n_anchors && n_uses(&longest))
		FLEXTRACE_TRY(shift(pair, &longest));
	ORDER_ARRAY(pair->anchors, pair->n_anchors, by_time);
	return FLEXTRACE_OK;
}

static int match_pair(struct pair *pair, struct message_use *uses, uint32_t n)
{
	bool is_told = is_steady(uses, n);
	struct message message;

	pair->n_anchors = 0;
	if (is_told)
		FLEXTRACE_TRY(find_anchors(pair, uses, n));
	for (uint32_t at = 0; at < n; at += n_uses(&message)) {
		message = message_at(uses + at, n - at);
		if (is_numbered(&message) || is_single(&message) || !has_both(&message))
			continue;
		if (pair->n_anchors && (!is_whole(&message) || is_certain(&message)))
			match(pair, &message);
		if (is_certain(&message))
			leave_rest(pair, &message);
	}
	return FLEXTRACE_OK;
}

int uses_match(struct message_use *uses, uint32_t n)
{
	struct pair pair = {.anchors = NULL};
	int code = FLEXTRACE_OK;
	uint32_t end;

	ORDER_ARRAY(uses, n, compare_uses);
	for (uint32_t first = 0; first < n && code >= 0; first = end) {
		for (end = first + 1; end < n && low_of(&uses[end]) == low_of(&uses[first]) &&
		                      high_of(&uses[end]) == high_of(&uses[first]);)
			end++;
		code = match_pair(&pair, uses + first, end - first);
	}
	free(pair.anchors);
	return code;
}

/* -- multicasts -------------------------------------------------------------------------------- */

static int compare_multicasts(const void *left, const void *right)
{
	const struct message_use *a = left, *b = right;

	return ORDER(a->sync, b->sync) ?: ORDER(a->from, b->from) ?:
	       ORDER(b->is_send, a->is_send) ?: ORDER(a->to, b->to) ?:
	       ORDER(a->host_ns, b->host_ns);
}

/* Those of the first one's sender, or receiver. */
static uint32_t count_side(const struct message_use *uses, uint32_t n)
{
	uint32_t end = 1;

	while (end < n && uses[end].sync == uses->sync && uses[end].from == uses->from &&
	       uses[end].is_send == uses->is_send && uses[end].to == uses->to)
		end++;
	return end;
}

/* Whether it is certain which use of one receiver belongs to which send. */
static bool is_told(const struct message_use *sends, uint32_t n_sends,
                    const struct message_use *receives, uint32_t n)
{
	struct turns turns = {sends, receives, n_sends, n, 0, 0, 0};

	if (n_sends == 0 || sends->sync != receives->sync || sends->from != receives->from)
		return false;
	return (n_sends == 1 && n == 1) ||
	       (n_sends == n && turns_prove(&turns) && turns_agree_throughout(&turns));
}

void uses_part_multicasts(struct message_use *uses, uint32_t n)
{
	uint32_t sends = 0, n_sends = 0, n_side;

	ORDER_ARRAY(uses, n, compare_multicasts);
	for (uint32_t at = 0; at < n; at += n_side) {
		n_side = count_side(uses + at, n - at);
		if (uses[at].is_send) {
			sends = at;
			n_sends = n_side;
			continue;
		}
		if (is_told(uses + sends, n_sends, uses + at, n_side))
			continue;
		for (uint32_t i = at; i < at + n_side; i++)
			*uses[i].number = UINT64_MAX - i;
	}
}
