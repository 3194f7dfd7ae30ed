// SPDX-License-Identifier: Apache-2.0
#include "chrome.h"

#include "output/place.h"

#define NS_PER_S 1000000000

/* ts 0: the last whole second before everything, so that ts are small and doubles hold every ns.
 * The files of single ranks have one for all, as some readers look at ts alone, and earlier. */
static void choose_base(struct chrome *chrome)
{
	const struct view *view = &chrome->events.view;
	int64_t first_ns;

	if (!events_first_time(&chrome->events, &first_ns))
		return;
	if (events_are_of_rank(&chrome->events))
		first_ns -= chrome_rank_lead_ns(first_ns, view->timeline->last_time_ns);
	first_ns += view->epoch_offset_ns;
	first_ns -= (first_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	chrome->base_time_ns = first_ns - view->epoch_offset_ns;
	chrome->events.count->zero_time_ns = first_ns;
}

/* Names before use, but for what the file of a rank begins with. */
static int write_events(struct chrome *chrome)
{
	struct file_event event;
	int code = events_first(&chrome->events, &event);

	if (code > 0)
		code = chrome_write_event(chrome, &event);
	FLEXTRACE_TRY(code);
	chrome_write_names(chrome);
	while (!writer_failed(&chrome->writer) && (code = events_next(&chrome->events, &event)) > 0)
		FLEXTRACE_TRY(chrome_write_event(chrome, &event));
	return code;
}

static int write_file(struct chrome *chrome)
{
	choose_base(chrome);
	FLEXTRACE_TRY(line_ids_init(&chrome->ids, &chrome->events));
	FLEXTRACE_TRY(chrome_track_ids_init(chrome));
	chrome_write_head(chrome);
	FLEXTRACE_TRY(write_events(chrome));
	chrome_write_tail(chrome);
	chrome->events.count->replaced_bytes = chrome->writer.replaced_bytes;
	return 0;
}

int emit_chrome(const struct findings *findings, const struct emit_options *options,
                uint32_t process, const char *name, struct file_count *ret_count,
                struct flextrace_error *error)
{
	struct emit_views views = options->views;
	struct chrome chrome = {.file = name};
	int code;

	*ret_count = (struct file_count){.file = name};
	FLEXTRACE_TRY(place_open(&chrome.writer, options, name, error));
	views.is_kineto = process != FLEXTRACE_NONE;
	code = events_init(&chrome.events, findings, &views, process, ret_count);
	if (code == 0)
		code = write_file(&chrome);
	if (code < 0) {
		error_set(error, code, "Cannot write output file: name=%s, cause=no memory", name);
		writer_abandon(&chrome.writer);
	} else {
		code = writer_close(&chrome.writer, error);
	}
	fragments_release(&chrome.track_ids);
	chrome_sites_release(&chrome.sites);
	line_ids_release(&chrome.ids);
	events_release(&chrome.events);
	return code;
}
