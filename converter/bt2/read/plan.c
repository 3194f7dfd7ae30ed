/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "bt2/read/graph.h"
#include "probe.h"

/* -- stream files: sizes, and what is cut ------------------------------------------------------ */

struct sizes { /* of one group's streams */
	struct ctf_dir *dirs;
	uint32_t n_dirs;
};

static void sizes_release(struct sizes *sizes)
{
	for (uint32_t i = 0; i < sizes->n_dirs; i++)
		ctf_dir_release(&sizes->dirs[i]);
	free(sizes->dirs);
}

static void warn_of_cuts(const struct ctf_dir *dir, const struct reader_options *options)
{
	char text[512];

	for (uint32_t i = 0; options->warn && i < dir->n_files; i++) {
		const struct ctf_file *file = &dir->files[i];

		if (file->whole_bytes == file->size_bytes)
			continue;
		snprintf(text, sizeof(text),
		         "Stream file ends inside a packet, reading what is whole: path=%s/%s, "
		         "whole-bytes=%" PRIu64 ", lost-bytes=%" PRIu64,
		         dir->path, file->name, file->whole_bytes,
		         file->size_bytes - file->whole_bytes);
		options->warn(options->context, text);
	}
}

/* Scans one directory of a group; a cut one is replaced by its view. With care, each is: an index
 * may be what the reader died of. */
static int scan_path(struct trace_group *group, uint32_t i, struct ctf_dir *dir,
                     const struct reader_options *options, struct flextrace_error *error)
{
	char *view;

	FLEXTRACE_TRY(ctf_dir_scan(group->paths.texts[i], dir, error));
	if (!dir->n_cut && !dir->has_odd_index && !options->is_careful)
		return 0;
	warn_of_cuts(dir, options);
	options->views->without_indexes = options->is_careful;
	FLEXTRACE_TRY(ctf_views_add(options->views, dir, &view, error));
	if (i == 0)
		group->shown = group->paths.texts[i];
	else
		free(group->paths.texts[i]);
	group->paths.texts[i] = view;
	return 0;
}

static int scan_group(struct trace_group *group, struct sizes *sizes,
                      const struct reader_options *options, struct flextrace_error *error)
{
	*sizes = (struct sizes){calloc(group->paths.n, sizeof(*sizes->dirs)), 0};
	if (!sizes->dirs)
		return error_memory(error);
	for (uint32_t i = 0; i < group->paths.n; i++) {
		sizes->n_dirs++; /* also if its view fails */
		FLEXTRACE_TRY(scan_path(group, i, &sizes->dirs[i], options, error));
	}
	return 0;
}

/* Sums up the files of the stream that a port is named after; 1 where the name tells nothing. */
static uint64_t port_bytes(const struct sizes *sizes, const char *port_name)
{
	const char *ids = strstr(port_name, " | ");
	uint64_t class_id, instance_id, n_bytes = 1;

	if (!ids || sscanf(ids, " | %" SCNu64 " | %" SCNu64, &class_id, &instance_id) != 2)
		return n_bytes;
	for (uint32_t i = 0; i < sizes->n_dirs; i++)
		for (uint32_t j = 0; j < sizes->dirs[i].n_files; j++) {
			const struct ctf_file *file = &sizes->dirs[i].files[j];

			if (file->has_stream && file->class_id == class_id &&
			    file->instance_id == instance_id)
				n_bytes += file->whole_bytes;
		}
	return n_bytes;
}

/* -- ports ------------------------------------------------------------------------------------- */

/* Opens a group's trace once to see its ports. */
static int list_ports(struct plan *plan, uint32_t group, const struct sizes *sizes,
                      const struct plugins *plugins, struct flextrace_error *error)
{
	const struct trace_group *of = &plan->groups.groups[group];
	struct graph graph;
	uint64_t n;
	int code = 0;

	FLEXTRACE_TRY(graph_open(&graph, plugins, of, NULL, NULL, error));
	n = graph_port_count(&graph);
	for (uint64_t i = 0; i < n && code == 0; i++) {
		struct plan_port port = {.group = group, .port = i};

		port.n_bytes = port_bytes(sizes, graph_port_name(&graph, i));
		code = ARRAY_PUSH(plan->ports, plan->n_ports, port);
	}
	plan->n_empty += n == 0;
	graph_close(&graph);
	return code < 0 ? error_memory(error) : 0;
}

struct opening { /* for a probe */
	const struct plugins *plugins;
	const struct trace_group *group;
};

static void look_at_trace(void *context)
{
	const struct opening *opening = context;
	struct graph graph;

	if (graph_open(&graph, opening->plugins, opening->group, NULL, NULL, NULL) == 0)
		graph_close(&graph);
}

static int check_opening(const struct trace_group *group, const struct plugins *plugins,
                         struct flextrace_error *error)
{
	struct opening opening = {plugins, group};
	int number = probe(look_at_trace, &opening);

	if (number <= 0)
		return number;
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "Cannot open trace: path=%s, reason=babeltrace2's reader dies of it, %s",
	                 trace_group_path(group), strsignal(number));
}

/* -- groups: what cannot be opened costs itself ------------------------------------------------ */

struct opener { /* weak, all */
	const struct plugins *plugins;
	const struct reader_options *options;
	struct flextrace_error *last; /* failure; those before it were warned of */
};

static void warn_of(const struct flextrace_error *failure, const struct reader_options *options)
{
	if (failure->message[0] && options->warn)
		options->warn(options->context, failure->message);
}

/* Notes a failure; `n_files` stream files are lost with it. */
static void pass_over(struct plan *plan, uint32_t n_files, const struct flextrace_error *failure,
                      const struct opener *opener)
{
	warn_of(opener->last, opener->options);
	*opener->last = *failure;
	plan->n_lost += n_files ? n_files : 1;
}

static bool opens(char *path, char *shown, const struct opener *opener,
                  struct flextrace_error *error)
{
	const struct trace_group alone = {.paths = {&path, 1, 1}, .shown = shown};
	struct graph graph;

	if (opener->options->is_careful && check_opening(&alone, opener->plugins, error) < 0)
		return false;
	if (graph_open(&graph, opener->plugins, &alone, NULL, NULL, error) < 0)
		return false;
	graph_close(&graph);
	return true;
}

/* Leaves out the directories of a group that cannot be opened alone; returns how many stay, 0 where
 * each can. */
static uint32_t drop_damaged(struct plan *plan, struct trace_group *group, struct sizes *sizes,
                             const struct opener *opener)
{
	struct flextrace_error failure = {0};
	uint32_t n = 0, n_before = group->paths.n;

	for (uint32_t i = 0; i < n_before; i++) {
		if (opens(group->paths.texts[i], sizes->dirs[i].path, opener, &failure)) {
			group->paths.texts[n] = group->paths.texts[i];
			sizes->dirs[n++] = sizes->dirs[i];
			continue;
		}
		pass_over(plan, sizes->dirs[i].n_files, &failure, opener);
		ctf_dir_release(&sizes->dirs[i]);
		free(group->paths.texts[i]);
	}
	group->paths.n = sizes->n_dirs = n;
	free(group->shown);
	group->shown = n ? strdup(sizes->dirs[0].path) : NULL;
	return n < n_before ? n : 0;
}

static int open_group(struct plan *plan, uint32_t group, const struct sizes *sizes,
                      const struct opener *opener, struct flextrace_error *error)
{
	const struct trace_group *of = &plan->groups.groups[group];

	if (opener->options->is_careful)
		FLEXTRACE_TRY(check_opening(of, opener->plugins, error));
	return list_ports(plan, group, sizes, opener->plugins, error);
}

static uint32_t count_files(const struct sizes *sizes, bool only_cut)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sizes->n_dirs; i++)
		n += only_cut ? sizes->dirs[i].n_cut : sizes->dirs[i].n_files;
	return n;
}

static void count_torn(struct plan *plan, const struct sizes *sizes)
{
	for (uint32_t i = 0; i < sizes->n_dirs; i++)
		for (uint32_t j = 0; j < sizes->dirs[i].n_files; j++)
			plan->n_torn += sizes->dirs[i].files[j].n_torn;
}

static int plan_group(struct plan *plan, uint32_t group, const struct opener *opener)
{
	struct trace_group *of = &plan->groups.groups[group];
	struct flextrace_error failure = {0};
	struct sizes sizes;
	int code = scan_group(of, &sizes, opener->options, &failure);

	if (code == 0)
		code = open_group(plan, group, &sizes, opener, &failure);
	if (code == FLEXTRACE_E_INPUT && of->paths.n > 1 &&
	    drop_damaged(plan, of, &sizes, opener) > 0)
		code = open_group(plan, group, &sizes, opener, &failure);
	if (code == 0) {
		plan->n_lost += count_files(&sizes, true);
		count_torn(plan, &sizes);
		code = ctf_count_fronts(sizes.dirs, sizes.n_dirs, &plan->fronts);
	} else if (of->paths.n > 0)
		pass_over(plan, count_files(&sizes, false), &failure, opener);
	sizes_release(&sizes);
	return code == FLEXTRACE_E_INPUT ? 0 : code;
}

/* A directory with broken metadata. */
static int plan_damaged(struct plan *plan, const char *path, const struct opener *opener)
{
	struct ctf_dir dir = {0};
	struct flextrace_error failure = {0};
	int code = ctf_dir_scan(path, &dir, NULL);

	if (code == FLEXTRACE_E_MEMORY)
		return error_memory(opener->last);
	error_set(&failure, FLEXTRACE_E_INPUT,
	          "Cannot open trace: path=%s, reason=babeltrace2 cannot read its metadata", path);
	pass_over(plan, dir.n_files, &failure, opener);
	ctf_dir_release(&dir);
	return 0;
}

static int plan_traces(struct plan *plan, const struct opener *opener)
{
	const struct trace_groups *groups = &plan->groups;

	for (uint32_t i = 0; i < groups->n_groups; i++)
		FLEXTRACE_TRY(plan_group(plan, i, opener));
	for (uint32_t i = 0; i < groups->damaged.n; i++)
		FLEXTRACE_TRY(plan_damaged(plan, groups->damaged.texts[i], opener));
	return 0;
}

int plan_init(struct plan *plan, const struct plugins *plugins,
              const struct reader_options *options, struct flextrace_error *error)
{
	const struct discover_options what = {options->traces, options->n_traces,
	                                      options->is_careful};
	struct flextrace_error last = {0};
	const struct opener opener = {plugins, options, &last};
	int code;

	*plan = (struct plan){.plugins = plugins};
	FLEXTRACE_TRY(discover(plugins, &what, &plan->groups, error));
	code = plan_traces(plan, &opener);
	if (code == 0 && plan->n_ports) {
		warn_of(&last, options);
		return 0;
	}
	if (last.message[0])
		code = error_set(error, code < 0 ? code : FLEXTRACE_E_INPUT, "%s", last.message);
	else if (plan->n_lost)
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "No data: all of the trace's stream files end inside their first "
		                 "packet; was the disk full, here or on the relay, or was the "
		                 "recorder killed? path=%s",
		                 options->traces[0]);
	else
		code = error_set(
			error, FLEXTRACE_E_INPUT,
			"No data: the trace has no streams; were its channels created, and is "
			"there room in /dev/shm? path=%s",
			options->traces[0]);
	plan_release(plan);
	return code;
}

void plan_release(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_ports; i++)
		free(plan->ports[i].failure);
	free(plan->ports);
	free(plan->fronts.firsts);
	trace_groups_release(&plan->groups);
	*plan = (struct plan){0};
}

/* -- shares ------------------------------------------------------------------------------------ */

/* Largest first; the order of the plan where sizes are equal. */
static int compare_ports(const void *a, const void *b)
{
	const struct plan_port *x = *(struct plan_port *const *)a;
	const struct plan_port *y = *(struct plan_port *const *)b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return ORDER(x, y);
}

static uint32_t least_loaded(const uint64_t *loads, uint32_t n_workers)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < n_workers; i++)
		if (loads[i] < loads[least])
			least = i;
	return least;
}

int plan_share(struct plan *plan, uint32_t n_workers)
{
	struct plan_port **by_size = malloc(plan->n_ports * sizeof(*by_size));
	uint64_t *loads = calloc(n_workers, sizeof(*loads));

	if (!by_size || !loads) {
		free(by_size);
		free(loads);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t i = 0; i < plan->n_ports; i++)
		by_size[i] = &plan->ports[i];
	qsort(by_size, plan->n_ports, sizeof(struct plan_port *), compare_ports);
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		by_size[i]->worker = least_loaded(loads, n_workers);
		loads[by_size[i]->worker] += by_size[i]->n_bytes;
	}
	free(by_size);
	free(loads);
	return 0;
}
