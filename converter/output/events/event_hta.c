// SPDX-License-Identifier: Apache-2.0
/*
 * event_hta.c: the file of a single rank with the names that Holistic Trace Analysis knows work by
 * (--compat=hta). It is the last stage before the file: what is here changes names, categories and
 * numbers of events, and never a time. An event that is renamed has its own name in its arguments.
 *
 * - What launched work is called cudaLaunchKernel, cudaMemcpyAsync or cudaMemsetAsync, and has a
 *   correlation; so has the first row of what it launched, which is where work begins.
 * - Each further row of a control block has a correlation of its own, and so has a row that stands
 *   for the launch once more: the critical path leaves out work that no row of the host stands for,
 *   and takes one piece of work a row. Launch statistics and queue lengths know it not by its name.
 * - All rows of work have a stream. By its name work is computation, communication (`nccl`), memory
 *   (`Memcpy`, `Memset`, `dma`), or neither (`packet`).
 * - A file of the torch profiler in which the reader knows a launch stays as it is, and with it all
 *   that the reader says of it.
 * - A call that waits for devices is cudaDeviceSynchronize, and its time stands once more, as a
 *   `Context Sync` of the device.
 */
#include "events.h"

#include <stdlib.h>

#include "base/text/ascii.h"
#include "model/words/work_class.h"

/* Correlations of further rows of control blocks, and of waits; launches have those recorded. */
#define PHASE_ID ((uint64_t)1 << 50)
#define WAIT_ID  ((uint64_t)1 << 51)

/* Launches by their names: those that all analyses know, then those of queue lengths and critical
 * paths. */
static const char *const launches[] = {
	"cudaLaunchKernel",
	"cudaLaunchKernelExC",
	"cudaMemcpyAsync",
	"cudaMemsetAsync",
	"runFunction - job_prep_and_submit_for_execution",
	"cuLaunchKernel",
	"cuLaunchKernelEx",
	"hipLaunchKernel",
	"hipExtModuleLaunchKernel",
	"hipMemcpyAsync",
	"hipMemsetAsync",
	"hipMemcpyWithStream",
};
#define N_LAUNCHES_OF_ALL 5
#define N_LAUNCHES        (sizeof(launches) / sizeof(launches[0]))

/* Whether it is one of the first `n`. */
static bool is_launch(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(launches[i], name) == 0)
			return true;
	}
	return false;
}

int event_hta_init(struct events *events)
{
	const struct timeline *timeline = events->view.timeline;
	struct event_hta *hta = &events->hta;
	bool is_known = false;

	if (!events->views.is_hta)
		return FLEXTRACE_OK;
	hta->device = FLEXTRACE_NONE;
	for (uint32_t i = events->view.identity->n_devices; i > 0; i--) {
		if (events->view.identity->devices[i - 1].process == events->process)
			hta->device = i - 1;
	}
	FLEXTRACE_TRY(ARRAY_NEW(hta->is_begun, timeline->n_ops / 8 + 1));
	for (uint64_t i = 0; timeline->launch_of_op && i < timeline->n_ops; i++) {
		uint32_t launch = timeline->launch_of_op[i];
		const struct host_row *call;

		if (launch == FLEXTRACE_NONE ||
		    events->view.identity->devices[timeline->ops[i].device].process !=
		            events->process)
			continue;
		call = table_index_get(&events->host_rows, launch, sizeof(*call));
		is_known |= is_launch(string_get(events->view.strings, call->name), N_LAUNCHES);
		if (map_find(&hta->launched, (uintptr_t)call, 0) == MAP_NONE)
			FLEXTRACE_TRY(
				map_put(&hta->launched, (uintptr_t)call, 0, timeline->ops[i].kind));
	}
	if (is_known &&
	    identity_is_torch_file(timeline->identity, timeline->strings, events->process))
		events->views.is_hta = false;
	return FLEXTRACE_OK;
}

void event_hta_release(struct event_hta *hta)
{
	map_release(&hta->launched);
	free(hta->is_begun);
}

/* -- names ------------------------------------------------------------------------------------- */

/* What the reader takes a name for; WORK_PREPARE: nothing of the others. */
static enum work_class class_by_name(const char *name)
{
	static const char *const others[] = {"Stream Wait Event",
	                                     "runFunction",
	                                     "job_exe",
	                                     "packet",
	                                     "pe_exe",
	                                     "cpum_exe_subgraph",
	                                     "collective_subgraph_execution"};

	if (text_begins(name, "nccl") || text_begins(name, "hip") || text_begins(name, "hccl") ||
	    strstr(name, "ncclKernel"))
		return WORK_COMMUNICATION;
	if (text_begins(name, "Memcpy") || text_begins(name, "Memset") || text_begins(name, "dma"))
		return WORK_MEMORY;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (text_begins(name, others[i]))
			return WORK_PREPARE;
	}
	return strstr(name, "Memcpy") || strstr(name, "Memset") || strstr(name, "dma") ||
	                       strstr(name, "Sync") ||
	                       (strstr(name, "cuda") && strstr(name, "LaunchKernel"))
	               ? WORK_PREPARE
	               : WORK_COMPUTE;
}

static void keep_name(struct file_event *event)
{
	const struct told told = {.members = event->told};

	if (event_told_has(&told, "name")) /* the file has the word */
		return;
	if (event->name)
		event_add_string(event, EVENT_KEY_NAME, event->name);
	else
		event_add_text(event, EVENT_KEY_NAME, ARG_WORD, event->label.bytes,
		               event->label.length);
}

/* What stands around the name of a kind of work, which it begins with otherwise; NULL: nothing. */
static const char *word_around(uint8_t kind, enum work_class class)
{
	if (class == WORK_PREPARE)
		return "packet prep";
	if (class != WORK_MEMORY)
		return NULL;
	return kind == ROW_DMA_IN    ? "dma in"
	       : kind == ROW_DMA_OUT ? "dma out"
	       : kind == ROW_RELEASE ? "dma release"
	                             : kind_of_device(DIALECT_CUDA, kind)->label;
}

static void name_work(const struct events *events, uint8_t kind, enum work_class class,
                      struct file_event *event)
{
	const char *name = event->name ? string_get(events->view.strings, event->name)
	                               : event->label.bytes;
	const char *around = word_around(kind, class);

	event->around = event->part = NULL;
	if (around ? text_begins(name, around) : class_by_name(name) == class)
		return;
	keep_name(event);
	event->around = around;
	if (class == WORK_COMMUNICATION) {
		event->before = "ncclDevKernel_";
		event->letters = LETTERS_OF_WORD;
	} else if (class == WORK_COMPUTE) {
		event->letters = LETTERS_CAPITAL; /* none of the words that the reader looks for */
	}
}

/* -- numbers ----------------------------------------------------------------------------------- */

static void drop(struct file_event *event, enum event_key key)
{
	uint8_t n = 0;

	for (uint8_t i = 0; i < event->n_args; i++) {
		if (event->args[i].key != key)
			event->args[n++] = event->args[i];
	}
	event->n_args = n;
}

static bool has_launch(const struct timeline *timeline, uint32_t op)
{
	return timeline->launch_of_op && timeline->launch_of_op[op] != FLEXTRACE_NONE;
}

/* A launch and its work, where their file tells no correlation: those by which we found them. */
static void add_correlation(struct file_event *event, uint64_t correlation)
{
	const struct told told = {.members = event->told};

	if (event->told.bytes && correlation && !event_told_has(&told, "correlation"))
		event_add_u64(event, EVENT_KEY_CORRELATION, correlation);
}

/* Work that a file tells a correlation of, but no launch with it: the reader would leave it out. */
static void hide_correlation(struct file_event *event)
{
	struct trace_text rest = event->told, before = rest, key;
	struct trace_value value;

	for (; told_next(&rest, &key, &value); before = rest) {
		if (!trace_text_is(&key, "correlation"))
			continue;
		event->told.length = (size_t)(before.bytes - event->told.bytes);
		event->told_rest = rest;
		return;
	}
}

/* What stands next, once more, for a launch or a wait. */
static void repeat(struct events *events, const struct host_row *call, uint64_t correlation)
{
	events->hta.repeated = call;
	events->hta.correlation = correlation;
}

/* Of what the program recorded: the first row of a control block whose launch is known stands for
 * it, as in launches.csv. */
static void number_work(struct events *events, const struct device_row *row,
                        struct file_event *event)
{
	const struct timeline *timeline = events->view.timeline;
	uint8_t *begun = &events->hta.is_begun[row->source / 8],
		bit = (uint8_t)(1 << row->source % 8);
	uint64_t correlation = timeline->ops[row->source].correlation;

	drop(event, EVENT_KEY_CORRELATION);
	drop(event, EVENT_KEY_STREAM);
	event_add_u64(event, EVENT_KEY_STREAM,
	              view_stream(&events->view, &timeline->tracks[row->track]));
	if (!has_launch(timeline, row->source))
		return;
	if (*begun & bit) {
		correlation = PHASE_ID + ++events->hta.n_phases;
		repeat(events,
		       table_index_get(&events->host_rows, timeline->launch_of_op[row->source],
		                       sizeof(struct host_row)),
		       correlation);
	}
	event_add_u64(event, EVENT_KEY_CORRELATION, correlation);
	*begun |= bit;
}

/* -- rows -------------------------------------------------------------------------------------- */

void event_hta_device(struct events *events, const struct device_row *row, struct file_event *event)
{
	const struct tick_op *op;
	enum work_class class;

	if (row->kind >= ROW_STATE)
		return;
	op = &events->view.timeline->ops[row->source];
	class = work_class_of_kind(row->kind);
	if (op->group || (row->kind == ROW_EXEC &&
	                  work_names_collective(string_get(events->view.strings, op->name))))
		class = WORK_COMMUNICATION;
	event->category = row->kind == ROW_MEMSET ? EVENT_TEXT("gpu_memset")
	                  : class == WORK_MEMORY  ? EVENT_TEXT("gpu_memcpy")
	                                          : EVENT_TEXT("kernel");
	name_work(events, row->kind, class, event);
	if (!event->told.bytes)
		number_work(events, row, event);
	else if (has_launch(events->view.timeline, row->source))
		add_correlation(event, op->correlation);
	else
		hide_correlation(event);
}

static const char *launch_name(uint32_t kind)
{
	return kind == FLEXTRACE_DEVICE_MEMSET ? "cudaMemsetAsync"
	       : kind >= FLEXTRACE_DEVICE_MEMCPY_HTOD && kind <= FLEXTRACE_DEVICE_MEMCPY_PTOP
	               ? "cudaMemcpyAsync"
	               : "cudaLaunchKernel";
}

static void rename_call(struct file_event *event, const char *name)
{
	keep_name(event);
	event->name = 0;
	event->label = (struct trace_text){name, strlen(name)};
}

void event_hta_host(struct events *events, const struct host_row *row, struct file_event *event)
{
	struct event_hta *hta = &events->hta;
	uint32_t kind = map_find(&hta->launched, (uintptr_t)row, 0);
	const char *name = string_get(events->view.strings, row->name);
	const struct told told = {.members = event->told};

	if (row->kind == FLEXTRACE_RUNTIME_OP || row->kind == FLEXTRACE_RUNTIME_STEP)
		event->category = (struct trace_text){event_host_kind(events, row)->category,
		                                      event_host_kind(events, row)->n_category};
	else if (kind_is_call(row->kind))
		event->category = EVENT_TEXT("cuda_runtime");
	if (kind != MAP_NONE) {
		event->category = EVENT_TEXT("cuda_runtime");
		if (!is_launch(name, N_LAUNCHES_OF_ALL))
			rename_call(event, launch_name(kind));
		add_correlation(event, row->correlation);
		return;
	}
	drop(event, EVENT_KEY_CORRELATION);
	/* without one it would be taken for the launch of all that has none */
	if (is_launch(name, N_LAUNCHES_OF_ALL) && !event_told_has(&told, "correlation"))
		event_add_u64(event, EVENT_KEY_CORRELATION, WAIT_ID + ++hta->n_waits);
	if (event->told.bytes || is_launch(name, N_LAUNCHES_OF_ALL))
		return;
	if (hta->device == FLEXTRACE_NONE || !call_waits(row->kind, name))
		return;
	rename_call(event, "cudaDeviceSynchronize");
	event->category = EVENT_TEXT("cuda_runtime");
	event_add_u64(event, EVENT_KEY_CORRELATION, WAIT_ID + ++hta->n_waits);
	repeat(events, row, WAIT_ID + hta->n_waits);
}

/* Launches for their phases stand behind each other, a nanosecond each: the reader takes what lies
 * in each other for calls in calls, and goes no deeper than a thousand. */
int event_hta_repeat(struct events *events, struct file_event *event)
{
	struct event_hta *hta = &events->hta;
	const struct host_row *call = hta->repeated;
	uint32_t *n;

	event_begin(event, EVENT_INTERVAL, ON_WAITS, call->track);
	event->start_time_ns = call->start_time_ns;
	event->end_time_ns = call->end_time_ns;
	event->label = EVENT_TEXT("Context Sync");
	event->category = EVENT_TEXT("cuda_sync");
	if (hta->correlation < WAIT_ID) {
		FLEXTRACE_TRY(map_enter(&hta->launched, (uintptr_t)call, 1, &n));
		*n = *n == MAP_NONE ? 0 : *n + 1;
		event->start_time_ns += *n;
		event->end_time_ns = event->start_time_ns + 1;
		event->label = EVENT_TEXT("launch of a phase");
		event->category = EVENT_TEXT("phase");
	}
	event_add_u64(event, EVENT_KEY_DEVICE, events->device_number[hta->device]);
	event_add_i64(event, EVENT_KEY_STREAM, -1);
	event_add_u64(event, EVENT_KEY_CORRELATION, hta->correlation);
	hta->repeated = NULL;
	return 1;
}
