/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/ascii.h"
#include "event_reader.h"

#define LEAST_WAIT_NS 500000000 /* 2^32 cycles of a counter take longer */

/* -- names ---------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	uint8_t part; /* enum flextrace_estimate */
} suffixes[] = {
	{" Cmpt Exec", FLEXTRACE_ESTIMATE_EXEC},
	{" Cmpt Prep", FLEXTRACE_ESTIMATE_PREP},
	{" DmaI", FLEXTRACE_ESTIMATE_DMA_IN},
	{" DmaO", FLEXTRACE_ESTIMATE_DMA_OUT},
};

static const char *const protocol_names[] = {"SenRdma", "Host DMA",  "HCOLL",
                                             "Wdone",   "Wait for ", "R5 ",
                                             "Send ",   "DLM Wait",  "Cleanup "};

static bool ends_with(const char *name, size_t length, const char *text)
{
	size_t n = strlen(text);

	return length > n && memcmp(name + length - n, text, n) == 0;
}

void block_cut_name(struct event_call *call)
{
	const struct trace_text *name = &call->full_name;

	call->part = FLEXTRACE_ESTIMATE_WHOLE;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (!ends_with(name->bytes, name->length, suffixes[i].text))
			continue;
		call->part = suffixes[i].part;
		call->name.length = name->length - strlen(suffixes[i].text);
	}
}

/* Whether a control block of this name moves messages between ranks. */
static bool is_protocol(const char *name)
{
	for (size_t i = 0; i < sizeof(protocol_names) / sizeof(*protocol_names); i++) {
		if (text_begins(name, protocol_names[i]))
			return true;
	}
	return false;
}

/* -- in -------------------------------------------------------------------------------------- */

uint64_t block_hash_text(const struct trace_text *text, uint64_t hash)
{
	const char *at = text->bytes;
	size_t left = text->length;

	for (; left > 8; at += 8, left -= 8)
		hash = hash_words(hash_load(at, 8), hash);
	return hash_words(hash_load(at, left), hash ^ text->length);
}

/* Of what all events of a control block share. */
static uint64_t hash_call(uint32_t rank, const struct event_call *call)
{
	uint64_t hash = hash_words((uint64_t)call->ts[0] << 32 | call->ts[1],
	                           (uint64_t)call->ts[2] << 32 | call->ts[3]);

	return block_hash_text(&call->name, hash_words((uint64_t)call->ts[4] << 32 | rank, hash));
}

#define SHORT_BYTES offsetof(struct block_part, bytes)
#define REST_BYTES  (sizeof(struct block_part) - SHORT_BYTES)

/* How many texts stand in its item. */
static uint32_t n_texts(bool is_short)
{
	return is_short ? PART_NAME + 1 : PART_N_TEXTS;
}

/* Fills in an item, which ends before what is 0 in a short one. */
static void fill_part(struct block_part *part, uint32_t rank, const struct event_call *call,
                      int64_t clock_ns, bool has_end, struct origin origin)
{
	part->head = (struct item_head){(uint64_t)clock_ns, rank,        -1, -1, ITEM_PART, true, 0,
	                                origin.file,        call->record};
	part->begin_ns = call->begin_ns;
	part->end_ns = has_end ? call->end_ns : 0;
	part->hash = hash_call(rank, call);
	memcpy(part->ts, call->ts, sizeof(part->ts));
	part->power = call->power;
	part->peer = call->peer;
	part->part = call->part;
	part->parts = (uint8_t)(1 << call->part);
	if (part->is_short)
		return;
	memset(&part->bytes, 0, REST_BYTES);
	part->bytes = call->bytes;
	part->correlation = call->correlation;
	part->origins[part->part] = origin;
}

int block_add_part(struct event_import *events, uint32_t rank, const struct event_call *call,
                   int64_t clock_ns, bool has_end)
{
	const struct trace_text *texts[PART_N_TEXTS] = {&call->name, &call->group, &call->type};
	bool is_short = !call->bytes && !call->correlation && !call->group.length &&
	                !call->type.length;
	size_t part_bytes = is_short ? SHORT_BYTES : sizeof(struct block_part);
	size_t n_bytes = part_bytes;
	void *item;
	char *at;

	for (uint32_t i = 0; i < n_texts(is_short); i++)
		n_bytes += item_text_bytes(texts[i]);
	FLEXTRACE_TRY(spool_add(events->import.events, (uint64_t)clock_ns, n_bytes, &item));
	((struct block_part *)item)->is_short = is_short;
	fill_part(item, rank, call, clock_ns, has_end, event_origin(events, rank, call->record));
	at = (char *)item + part_bytes;
	for (uint32_t i = 0; i < n_texts(is_short); i++)
		FLEXTRACE_TRY(item_put_text(events->import.events, &at, texts[i]));
	events->ranks[rank].has_device = true;
	if (clock_ns > events->ranks[rank].last_ns)
		events->ranks[rank].last_ns = clock_ns;
	return FLEXTRACE_OK;
}

/* -- joining --------------------------------------------------------------------------------- */

void block_part_read(const void *item, struct block_part_view *ret_view)
{
	struct block_part *part = &ret_view->part;
	const char *at = (const char *)item + SHORT_BYTES;

	memcpy(part, item, SHORT_BYTES);
	ret_view->texts[PART_GROUP] = ret_view->texts[PART_TYPE] = (struct item_text){{"", 0}, 0};
	if (part->is_short) {
		part->bytes = part->correlation = 0;
		part->wait_ns = 0;
		part->origins[part->part] = (struct origin){part->head.file, part->head.record,
		                                            false};
		ret_view->texts[PART_NAME] = item_get_text(&at);
		part->is_short = false;
		return;
	}
	memcpy(&part->bytes, at, REST_BYTES);
	at += REST_BYTES;
	for (int i = 0; i < PART_N_TEXTS; i++)
		ret_view->texts[i] = item_get_text(&at);
}

/* Names too long to stand in an item are told by their hash. */
static bool is_same_name(const struct item_text *a, const struct item_text *b)
{
	return a->text.length == b->text.length &&
	       (!a->text.bytes || memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0);
}

/* Computing is what everything else waits for. */
static int worth(const struct block_part *part)
{
	static const int worths[FLEXTRACE_ESTIMATE_COUNT] = {
		[FLEXTRACE_ESTIMATE_WHOLE] = 1,   [FLEXTRACE_ESTIMATE_DMA_IN] = 2,
		[FLEXTRACE_ESTIMATE_DMA_OUT] = 2, [FLEXTRACE_ESTIMATE_PREP] = 3,
		[FLEXTRACE_ESTIMATE_EXEC] = 4,
	};

	return part->end_ns ? 1 + worths[part->part] : part->begin_ns > 0;
}

/* How long the preparation took, where that is not what is estimated; 0: nothing that the stamps
 * do not tell. */
static int64_t wait_of(const struct block_part *part)
{
	bool is_prep = part->part == FLEXTRACE_ESTIMATE_PREP && part->end_ns;

	if (!is_prep)
		return part->wait_ns;
	return part->end_ns - part->begin_ns < LEAST_WAIT_NS ? 0 : part->end_ns - part->begin_ns;
}

bool block_part_join(struct block_part_view *later, const struct block_part_view *earlier)
{
	struct block_part *to = &later->part;
	const struct block_part *from = &earlier->part;

	if ((to->parts & from->parts) || to->hash != from->hash ||
	    to->head.stream != from->head.stream || memcmp(to->ts, from->ts, sizeof(to->ts)) ||
	    !is_same_name(&later->texts[PART_NAME], &earlier->texts[PART_NAME]))
		return false;
	to->wait_ns = wait_of(to) > wait_of(from) ? wait_of(to) : wait_of(from);
	if (worth(from) >= worth(to)) {
		to->begin_ns = from->begin_ns;
		to->end_ns = from->end_ns;
		to->part = from->part;
	}
	for (uint32_t i = 0; i < 1 + ORIGIN_N_PARTS; i++) {
		if (from->parts >> i & 1)
			to->origins[i] = from->origins[i];
	}
	to->parts |= from->parts;
	to->bytes = from->bytes ? from->bytes : to->bytes;
	to->correlation = from->correlation ? from->correlation : to->correlation;
	to->power = from->power ? from->power : to->power;
	to->peer = from->peer >= 0 ? from->peer : to->peer;
	for (int i = PART_GROUP; i < PART_N_TEXTS; i++) {
		if (earlier->texts[i].text.length)
			later->texts[i] = earlier->texts[i];
	}
	return true;
}

/* -- out ------------------------------------------------------------------------------------- */

static uint32_t kind_of(const struct block_part *part, const char *name)
{
	/* Their order is that of enum flextrace_part. */
	uint32_t parts = part->parts >> FLEXTRACE_ESTIMATE_DMA_IN;

	if (part->parts == 1 << FLEXTRACE_ESTIMATE_WHOLE && is_protocol(name))
		return FLEXTRACE_DEVICE_MEMCPY_PTOP;
	if (part->parts & 1 << FLEXTRACE_ESTIMATE_WHOLE)
		return FLEXTRACE_DEVICE_KERNEL;
	if (parts == FLEXTRACE_PART_DMA_IN)
		return FLEXTRACE_DEVICE_MEMCPY_HTOD;
	if (parts == FLEXTRACE_PART_DMA_OUT)
		return FLEXTRACE_DEVICE_MEMCPY_DTOH;
	return FLEXTRACE_DEVICE_PARTS(parts);
}

/* Of a row that no event tells, that of the control block. */
static void fill_origins(const struct block_part *part, struct event *event)
{
	bool is_of_one = !(part->parts & (part->parts - 1));

	event->n_origins = is_of_one ? 1 : 1 + ORIGIN_N_PARTS;
	event->origins[0] = part->origins[part->part];
	for (uint32_t i = FLEXTRACE_ESTIMATE_DMA_IN; i < event->n_origins; i++)
		event->origins[i] = part->parts >> i & 1 ? part->origins[i] : event->origins[0];
}

static void fill_op(const struct block_part_view *view, const struct event_rank *rank,
                    struct event *event)
{
	const struct block_part *part = &view->part;
	const char *name = view->texts[PART_NAME].text.bytes;

	event->payload.device_op = (struct flextrace_device_op){
		.device = rank->device,
		.job = rank->n_jobs,
		.correlation = part->correlation,
		.kind = kind_of(part, name),
		.name = name,
		.power = part->power,
		.bytes = part->bytes,
		.peer = part->peer,
		.group = view->texts[PART_GROUP].text.bytes,
		.type = view->texts[PART_TYPE].text.bytes,
	};
	memcpy(event->payload.device_op.ts, part->ts, sizeof(part->ts));
	fill_origins(part, event);
}

static void fill_estimate(const struct block_part *part, const struct event_rank *rank,
                          struct event *event)
{
	event->payload.host_estimate = (struct flextrace_host_estimate){
		.device = rank->device,
		.job = rank->n_jobs,
		.kind = part->part,
		.begin_ns = (uint64_t)part->begin_ns,
		.end_ns = (uint64_t)part->end_ns,
		.source = "Flex",
	};
}

static void fill_wait(const struct block_part *part, const struct event_rank *rank,
                      struct event *event)
{
	fill_estimate(part, rank, event);
	event->payload.host_estimate.kind = FLEXTRACE_ESTIMATE_WAIT;
	event->payload.host_estimate.end_ns = (uint64_t)(part->begin_ns + part->wait_ns);
}

uint8_t block_rest_of(const struct block_part *part, uint8_t rest)
{
	if (rest == REST_NONE && part->begin_ns)
		return REST_ESTIMATE;
	if (rest == REST_ESTIMATE && !part->is_short && part->wait_ns &&
	    part->part != FLEXTRACE_ESTIMATE_PREP)
		return REST_WAIT;
	return REST_NONE;
}

int block_event(struct event_import *events, const void *item, uint8_t rest, uint32_t *ret_rank,
                struct event *ret_event)
{
	const struct block_part *part = item;
	struct block_part_view view;
	struct event_rank *rank;

	*ret_rank = part->head.stream;
	rank = &events->ranks[*ret_rank];
	ret_event->class = rest ? RECORD_HOST_ESTIMATE : RECORD_DEVICE_OP;
	ret_event->clock_ns = part->head.clock_ns;
	ret_event->vpid = rank->vpid;
	ret_event->vtid = -1;
	ret_event->status = TIME_CERTIFIED;
	ret_event->n_origins = 0;
	if (rest) {
		(rest == REST_WAIT ? fill_wait : fill_estimate)(part, rank, ret_event);
		return FLEXTRACE_OK;
	}
	block_part_read(item, &view);
	FLEXTRACE_TRY(item_fetch_texts(events->import.events, &events->import.texts, view.texts,
	                               n_texts(part->is_short)));
	rank->n_jobs++;
	fill_op(&view, rank, ret_event);
	return FLEXTRACE_OK;
}
