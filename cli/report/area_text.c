/* SPDX-License-Identifier: Apache-2.0 */
#include "area_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/cli.h"
#include "report/table_view.h"
#include "flextrace/wire.h"

#define MAX_DEPTH  32u /* open zones that are timed */
#define MAX_LEFT   16u /* zones without an end that are named */
#define NAME_WIDTH 1000u

/* One area while its words come. */
struct printer {
	FILE *to;
	const struct marker_names *names;
	bool has_runs, has_records; /* the headings are printed */
	bool has_run;               /* a RUN record */
	uint64_t n_unknown;         /* words of no kind */
	uint32_t ticks;             /* of the last record that has some */
	bool has_ticks;
	uint32_t depth; /* open zones */
	struct open_zone {
		uint32_t ticks, id;
	} open[MAX_DEPTH];
	uint32_t left[MAX_LEFT]; /* ids of zones without an end */
	uint32_t n_left;         /* all of them */
};

static uint32_t kind_of(uint64_t word)
{
	return (uint32_t)(word >> (32 + FLEXTRACE_WIRE_ID_BITS));
}

static uint32_t id_of(uint64_t word)
{
	return (uint32_t)(word >> 32) & FLEXTRACE_WIRE_ID_MASK;
}

/* -- runs ------------------------------------------------------------------------------------ */

struct run { /* the words of a slot */
	uint32_t run, job, queue, is_closed;
	uint64_t anchor;
	uint32_t ticks[FLEXTRACE_WIRE_N_STAMPS];
};

static void take_word(struct run *run, uint64_t word)
{
	switch (kind_of(word)) {
	case FLEXTRACE_WIRE_SLOT_QUEUE:
		run->queue = (uint32_t)word;
		run->is_closed = id_of(word);
		break;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_LO:
		run->anchor |= (uint32_t)word;
		break;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_HI:
		run->anchor |= word << 32;
		break;
	case FLEXTRACE_WIRE_SLOT_STAMP:
		if (id_of(word) < FLEXTRACE_WIRE_N_STAMPS)
			run->ticks[id_of(word)] = (uint32_t)word;
		break;
	default:
		break;
	}
}

static void print_run(const struct printer *printer, const struct run *run)
{
	static const char *const stamps[FLEXTRACE_WIRE_N_STAMPS] = {
		"", "kernel start", "kernel end", "FW end", "TS1", "TS2", "TS3", "TS4", "TS5"};
	const char *between = "";

	fprintf(printer->to, "  %9" PRIu32 " %9" PRIu32 " %5" PRIu32 " %-6s %20" PRIu64 "  ",
	        run->run, run->job, run->queue, run->is_closed ? "closed" : "open", run->anchor);
	for (int i = FLEXTRACE_WIRE_KERNEL_START; i < FLEXTRACE_WIRE_N_STAMPS; i++) {
		if (!run->ticks[i])
			continue;
		fprintf(printer->to, "%s%s %" PRIu32, between, stamps[i],
		        run->ticks[i] - (uint32_t)run->anchor);
		between = ", ";
	}
	fputc('\n', printer->to);
}

static void print_runs(struct printer *printer, const struct flextrace_marker_batch *batch)
{
	uint32_t i = 0;

	if (!printer->has_runs)
		cli_heading(printer->to, "        run       job queue state              FW start"
		                         "  cycles behind it");
	printer->has_runs = true;
	while (i < batch->n_words) {
		struct run run = {.run = id_of(batch->words[i]), .job = (uint32_t)batch->words[i]};

		for (i++; i < batch->n_words && kind_of(batch->words[i]) != FLEXTRACE_WIRE_SLOT_RUN;
		     i++)
			take_word(&run, batch->words[i]);
		print_run(printer, &run);
	}
}

/* -- ring records ---------------------------------------------------------------------------- */

static const char *const kind_names[16] = {
	[FLEXTRACE_WIRE_MARK] = "mark",    [FLEXTRACE_WIRE_ZONE_BEGIN] = "begin",
	[FLEXTRACE_WIRE_ZONE_END] = "end", [FLEXTRACE_WIRE_VALUE] = "value",
	[FLEXTRACE_WIRE_VALUE_DATA] = "=", [FLEXTRACE_WIRE_RUN] = "run",
};

static void print_ticks(struct printer *printer, uint32_t ticks)
{
	fprintf(printer->to, " %10" PRIu32, ticks);
	if (printer->has_ticks)
		fprintf(printer->to, " %10" PRIu32, ticks - printer->ticks);
	else
		fprintf(printer->to, " %10s", "-");
	printer->ticks = ticks;
	printer->has_ticks = true;
}

static void print_name(const struct printer *printer, uint32_t id)
{
	const struct marker_name *name = marker_names_find(printer->names, id);

	fprintf(printer->to, " %*s",
	        (int)(2 * (printer->depth < MAX_DEPTH ? printer->depth : MAX_DEPTH)), "");
	if (!name) {
		fprintf(printer->to,
		        id & FLEXTRACE_WIRE_NUMBERED ? "marker %" PRIu32 : "marker 0x%" PRIx32,
		        id & ~FLEXTRACE_WIRE_NUMBERED);
		return;
	}
	table_view_print_text(name->name, NAME_WIDTH, printer->to);
	fprintf(printer->to, "  %s", cli_style(printer->to, CLI_DIM));
	table_view_print_text(name->file, NAME_WIDTH, printer->to);
	fprintf(printer->to, ":%" PRIu32 "%s", name->line, cli_style(printer->to, CLI_PLAIN));
}

/* A zone that nothing will end. */
static void leave_open(struct printer *printer, uint32_t i)
{
	if (printer->n_left < MAX_LEFT && i < MAX_DEPTH)
		printer->left[printer->n_left] = printer->open[i].id;
	printer->n_left += i < MAX_DEPTH;
}

static void leave_above(struct printer *printer, uint32_t depth)
{
	while (printer->depth > depth)
		leave_open(printer, --printer->depth);
}

/* Begin and end have different ids and one name; without names, the innermost one ends. */
static bool may_be_same(const struct printer *printer, uint32_t begin, uint32_t end)
{
	const struct marker_name *from = marker_names_find(printer->names, begin);
	const struct marker_name *to = marker_names_find(printer->names, end);

	return !from || !to || strcmp(from->name, to->name) == 0;
}

/* The cycles of a zone that ends; false: its begin is not there. */
static bool close_zone(struct printer *printer, uint32_t id, uint32_t ticks, uint32_t *ret_cycles)
{
	uint32_t i = printer->depth;

	if (i > MAX_DEPTH) { /* too deep to know */
		printer->depth--;
		return false;
	}
	while (i > 0 && !may_be_same(printer, printer->open[i - 1].id, id))
		i--;
	if (i == 0)
		return false;
	leave_above(printer, i);
	printer->depth = i - 1;
	*ret_cycles = ticks - printer->open[i - 1].ticks;
	return true;
}

static void open_zone(struct printer *printer, uint32_t id, uint32_t ticks)
{
	if (printer->depth < MAX_DEPTH)
		printer->open[printer->depth] = (struct open_zone){.ticks = ticks, .id = id};
	printer->depth++;
}

static void print_record(struct printer *printer, uint64_t index, uint64_t word)
{
	uint32_t kind = kind_of(word), ticks = (uint32_t)word, cycles;

	fprintf(printer->to, "  %20" PRIu64, index);
	if (!kind_names[kind]) {
		printer->n_unknown++;
		fprintf(printer->to, " %10s %10s ?      0x%016" PRIx64 "\n", "", "", word);
		return;
	}
	if (kind == FLEXTRACE_WIRE_VALUE_DATA) {
		fprintf(printer->to, " %10s %10s %-6s %10" PRIu32 "\n", "", "", kind_names[kind],
		        ticks);
		return;
	}
	if (kind == FLEXTRACE_WIRE_RUN && printer->has_run)
		leave_above(printer, 0); /* zones end in their run, but those of before the first */
	printer->has_run |= kind == FLEXTRACE_WIRE_RUN;
	print_ticks(printer, ticks);
	fprintf(printer->to, " %-6s", kind_names[kind]);
	if (kind == FLEXTRACE_WIRE_ZONE_END && close_zone(printer, id_of(word), ticks, &cycles))
		fprintf(printer->to, " %10" PRIu32, cycles);
	else
		fprintf(printer->to, " %10s", "");
	if (kind == FLEXTRACE_WIRE_RUN)
		fprintf(printer->to, " run %" PRIu32, id_of(word));
	else
		print_name(printer, id_of(word));
	if (kind == FLEXTRACE_WIRE_ZONE_BEGIN)
		open_zone(printer, id_of(word), ticks);
	fputc('\n', printer->to);
}

static void print_ring(struct printer *printer, const struct flextrace_marker_batch *batch)
{
	if (!printer->has_records && batch->n_words)
		cli_heading(printer->to, "                record      ticks      since kind"
		                         "       cycles name");
	printer->has_records |= batch->n_words > 0;
	for (uint32_t i = 0; i < batch->n_words; i++)
		print_record(printer, batch->first_index + i, batch->words[i]);
}

static void print_batch(void *context, const struct flextrace_marker_batch *batch)
{
	if (batch->n_words && kind_of(batch->words[0]) >= FLEXTRACE_WIRE_SLOT_RUN)
		print_runs(context, batch);
	else
		print_ring(context, batch);
}

/* -- areas ----------------------------------------------------------------------------------- */

static const char *policy_name(uint32_t policy)
{
	static const char *const names[] = {"stop", "overwrite", "block"};

	return policy < sizeof(names) / sizeof(*names) ? names[policy] : "unknown";
}

static void print_header(const struct dumped_area *area, FILE *to)
{
	const struct flextrace_area_header *header = &area->header;

	fprintf(to, "%s", cli_style(to, CLI_BOLD));
	table_view_print_text(area->path, NAME_WIDTH, to);
	fprintf(to,
	        " + 0x%" PRIx64 "%s: device %" PRIu32 ", core %" PRIu32 ", processor %" PRIu32
	        ", clock domain %" PRIu32 " of %" PRIu32 " bits\n",
	        area->offset_bytes, cli_style(to, CLI_PLAIN), area->device, header->core,
	        header->processor, header->domain, header->counter_bits);
	fprintf(to, "  runs: the newest is %" PRIu32 ", read by a host up to %" PRIu32 "\n",
	        header->run, header->read_run);
	fprintf(to,
	        "  ring: %" PRIu32 " records, policy %s, set up %" PRIu32 " times, written %" PRIu32
	        ", dropped %" PRIu32 ", read by a host %" PRIu32 "\n",
	        header->capacity, policy_name(header->policy), header->resets, header->head,
	        header->dropped, header->n_read);
}

/* Each name once. */
static void print_left(struct printer *printer)
{
	uint32_t n = printer->n_left < MAX_LEFT ? printer->n_left : MAX_LEFT, i, k;

	printer->depth = 0;
	for (i = 0; i < n; i++) {
		for (k = 0; k < i && printer->left[k] != printer->left[i]; k++)
			;
		if (k < i)
			continue;
		fprintf(printer->to, "  zone without an end:");
		print_name(printer, printer->left[i]);
		fputc('\n', printer->to);
	}
	if (printer->n_left > n)
		fprintf(printer->to, "  more zones without an end: %" PRIu32 "\n",
		        printer->n_left - n);
}

static void print_rest(const struct printer *printer, const struct dumped_area *area,
                       const struct flextrace_drain_area *drained)
{
	const struct flextrace_drain_stats *stats = &drained->stats;

	if (stats->overwritten_runs)
		fprintf(printer->to, "  runs overwritten before they were copied: %" PRIu64 "\n",
		        stats->overwritten_runs);
	if (stats->refused)
		fprintf(printer->to, "  the area contradicts itself\n");
	if (printer->n_unknown)
		fprintf(printer->to, "  records of no kind: %" PRIu64 "\n", printer->n_unknown);
	if (area->inner_bytes)
		fprintf(printer->to,
		        "  another area begins in its ring, at 0x%" PRIx64
		        ": one of them is stale, this one's ring was not read\n",
		        area->inner_bytes);
	else if (area->is_cut)
		fprintf(printer->to,
		        "  the file ends inside this area, its ring was not read: it needs %" PRIu64
		        " bytes\n",
		        area->header.n_bytes);
}

int area_text_print(const struct dumped_area *area, const struct marker_names *names, FILE *to,
                    struct flextrace_error *error)
{
	struct printer printer = {.to = to, .names = names};
	const struct flextrace_area_reader reader = {
		.emit = print_batch, .context = &printer, .is_last = 1};
	struct flextrace_drain_area drained;

	FLEXTRACE_TRY(area_load(area, &drained, error));
	print_header(area, to);
	flextrace_area_read(&drained, &reader);
	leave_above(&printer, 0);
	print_left(&printer);
	print_rest(&printer, area, &drained);
	free(drained.memory);
	return FLEXTRACE_OK;
}
