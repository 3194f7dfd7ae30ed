// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_ranks.c: times of the file of a single rank, as its readers need them
 * (events/event_ranks.c), and what the file that a rank was imported from said of it.
 */
#include "chrome.h"

/* 2^42 us, 50 days. From twice as much on a double does not hold every ns. */
#define MAX_LEAD_NS ((int64_t)1000 << 42)

/* -- times ------------------------------------------------------------------------------------- */

/* As a reader gets it from the decimal text. */
static double us_of(const struct chrome *chrome, int64_t time_ns)
{
	return (double)(time_ns - chrome->base_time_ns) / 1000.0;
}

int64_t chrome_rank_lead_ns(int64_t first_time_ns, int64_t last_time_ns)
{
	const uint64_t at_least_ns = (uint64_t)last_time_ns - (uint64_t)first_time_ns + 2000000000;
	int64_t lead_ns = 1000;

	while (lead_ns < MAX_LEAD_NS && (uint64_t)lead_ns < at_least_ns)
		lead_ns *= 2;
	return first_time_ns < INT64_MIN + lead_ns ? 0 : lead_ns;
}

void chrome_write_dur(struct chrome *chrome, int64_t start_time_ns, int64_t end_time_ns)
{
	writer_double(&chrome->writer, us_of(chrome, end_time_ns) - us_of(chrome, start_time_ns));
}

/* -- what its file said ------------------------------------------------------------------------ */

/* The text of an annotation of the file's process; NULL: there is none. */
static const char *find_annotation(const struct chrome *chrome, const char *name)
{
	const struct string_pool *strings = chrome->events.view.strings;

	TABLE_EACH(struct instant_row, row, &chrome->events.view.timeline->instants) {
		if (row->class == RECORD_ANNOTATION &&
		    view_track_process(&chrome->events.view, row->track) ==
		            chrome->events.process &&
		    strcmp(string_get(strings, row->name), name) == 0)
			return string_get(strings, row->value);
	}
	return NULL;
}

bool chrome_write_told_member(struct chrome *chrome, const char *name)
{
	const char *said = NULL;

	if (chrome->events.process != FLEXTRACE_NONE &&
	    identity_is_torch_file(chrome->events.view.identity, chrome->events.view.strings,
	                           chrome->events.process))
		said = find_annotation(chrome, name);
	/* Holistic Trace Analysis looks for this blank. */
	if (!said || (*said != '[' && !strstr(said, "\"rank\": ")) || !told_is_json(said))
		return false;
	writer_char(&chrome->writer, '"');
	writer_raw(&chrome->writer, name);
	writer_literal(&chrome->writer, "\": ");
	writer_json_inside(&chrome->writer, said, strlen(said));
	writer_literal(&chrome->writer, ",\n");
	return true;
}
