/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bt2/read/graph.h"
#include "plan.h"
#include "probe.h"

#define MAX_OPEN    64 /* streams of a graph: the source holds a map and a descriptor of each */
#define PROGRESS_NS 100000000

struct worker {
	pthread_t thread;
	bool is_running;
	uint32_t index;
	uint32_t n_open;             /* streams of a graph */
	struct plan *plan;           /* weak; writes only the failures of its own ports */
	struct graph_shared *shared; /* weak */
	struct plugins plugins;      /* owned while the thread runs */
	struct feed feed;            /* owned */
	int code;
	struct flextrace_error error;
};

/* -- one worker -------------------------------------------------------------------------------- */

/* Reads some streams of one trace in one graph. `ret_n_drained` of them are whole, also on
 * failure. */
static int read_graph(struct worker *worker, const struct trace_group *group,
                      struct plan_port *const *ports, uint32_t n, uint64_t *ret_n_drained)
{
	struct graph graph;
	int code = 0;

	*ret_n_drained = 0;
	FLEXTRACE_TRY(graph_open(&graph, &worker->plugins, group, &worker->feed, worker->shared,
	                         &worker->error));
	for (uint32_t i = 0; i < n && code == 0; i++)
		code = graph_connect(&graph, ports[i]->port, &worker->error);
	if (code == 0)
		code = graph_run(&graph, ret_n_drained, &worker->error);
	graph_close(&graph);
	return code;
}

/* Reads the worker's streams of one trace. A stream that fails is left behind, and the others are
 * read on. */
static int read_streams(struct worker *worker, const struct trace_group *group,
                        struct plan_port *const *ports, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && !atomic_load(&worker->shared->stops)) {
		uint32_t n_now = n - i < worker->n_open ? n - i : worker->n_open;
		uint64_t n_drained;
		int code = read_graph(worker, group, &ports[i], n_now, &n_drained);

		if (code == 0) {
			i += n_now;
			continue;
		}
		if (code != FLEXTRACE_E_INPUT || n_drained >= n_now)
			return code;
		i += (uint32_t)n_drained;
		ports[i]->failure = strdup(worker->error.message);
		if (!ports[i++]->failure)
			return FLEXTRACE_E_MEMORY;
	}
	return 0;
}

static int read_share(struct worker *worker)
{
	struct plan *plan = worker->plan;
	struct plan_port **ports = malloc(plan->n_ports * sizeof(*ports));
	int code = ports ? 0 : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0, n = 0; i < plan->n_ports && code == 0; i++) {
		uint32_t group = plan->ports[i].group;

		if (plan->ports[i].worker == worker->index && !plan->ports[i].failure)
			ports[n++] = &plan->ports[i];
		if (n && (i + 1 == plan->n_ports || plan->ports[i + 1].group != group)) {
			code = read_streams(worker, &plan->groups.groups[group], ports, n);
			n = 0;
		}
	}
	free(ports);
	return code;
}

static void *worker_main(void *data)
{
	struct worker *worker = data;

	worker->code = plugins_load_again(&worker->plugins, worker->plan->plugins, &worker->error);
	if (worker->code == 0) {
		worker->code = read_share(worker);
		feed_detach(&worker->feed);
		plugins_release(&worker->plugins);
	}
	if (worker->code < 0)
		atomic_store(&worker->shared->stops, true);
	return NULL;
}

/* -- all workers ------------------------------------------------------------------------------- */

static int start_worker(struct worker *worker, uint32_t index, struct plan *plan,
                        struct graph_shared *shared, struct string_pool *strings)
{
	worker->index = index;
	worker->plan = plan;
	worker->shared = shared;
	FLEXTRACE_TRY(feed_init(&worker->feed, strings));
	worker->feed.fronts = &plan->fronts;
	if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
		return FLEXTRACE_E_SYSTEM;
	worker->is_running = true;
	return 0;
}

static void join_worker(struct worker *worker, const struct reader_options *options)
{
	struct timespec until;

	if (!worker->is_running)
		return;
	do {
		if (options->progress)
			options->progress(options->context,
			                  atomic_load(&worker->shared->n_messages));
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PROGRESS_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_timedjoin_np(worker->thread, NULL, &until) == ETIMEDOUT);
}

/* Moves what a worker has read to `total`; returns its code or ours. */
static int finish_worker(struct worker *worker, struct feed *total, struct flextrace_error *error)
{
	int code = worker->code;

	if (code < 0)
		error_set(error, code, "%s",
		          worker->error.message[0] ? worker->error.message : "Out of memory");
	else
		code = feed_merge(total, &worker->feed);
	feed_release(&worker->feed);
	return code;
}

/* Runs the plan with `n` workers into `total`. */
static int run_workers(struct plan *plan, uint32_t n, const struct reader_options *options,
                       struct string_pool *strings, struct feed *total,
                       struct flextrace_error *error)
{
	struct graph_shared shared = {0};
	struct worker *workers = calloc(n + 1ull, sizeof(*workers));
	int code = workers ? plan_share(plan, n) : FLEXTRACE_E_MEMORY;
	uint32_t n_started = 0;

	while (code == 0 && n_started < n) {
		workers[n_started].n_open = options->n_open ? options->n_open : MAX_OPEN;
		code = start_worker(&workers[n_started], n_started, plan, &shared, strings);
		n_started++;
	}
	if (code < 0) {
		atomic_store(&shared.stops, true);
		error_set(error, code, "Cannot start a reader thread");
	}
	for (uint32_t i = 0; i < n_started; i++)
		join_worker(&workers[i], options);
	for (uint32_t i = 0; i < n_started; i++) {
		int finished = finish_worker(&workers[i], total, code == 0 ? error : NULL);

		code = code < 0 ? code : finished;
	}
	free(workers);
	return code;
}

/* -- streams that the reader dies of ----------------------------------------------------------- */

struct look { /* for a probe */
	struct worker *worker;
	const struct trace_group *group;
	struct plan_port *port;
};

static void look_at_stream(void *context)
{
	struct look *look = context;
	uint64_t n_drained;

	read_graph(look->worker, look->group, &look->port, 1, &n_drained);
}

static int check_port(struct worker *worker, struct plan *plan, struct plan_port *port)
{
	struct look look = {worker, &plan->groups.groups[port->group], port};
	int number = probe(look_at_stream, &look);

	if (number > 0 &&
	    asprintf(&port->failure,
	             "Cannot read a stream: path=%s, stream=%u, "
	             "reason=babeltrace2's reader dies of it, %s",
	             trace_group_path(look.group), (unsigned)port->port, strsignal(number)) < 0)
		return FLEXTRACE_E_MEMORY;
	return number < 0 ? number : 0;
}

/* Marks the streams that a probe dies of. */
static int check_ports(struct plan *plan, const struct plugins *plugins,
                       struct string_pool *strings)
{
	struct graph_shared shared = {0};
	struct worker worker = {.shared = &shared, .plugins = *plugins};
	int code = feed_init(&worker.feed, strings);

	for (uint32_t i = 0; i < plan->n_ports && code == 0; i++)
		code = check_port(&worker, plan, &plan->ports[i]);
	feed_release(&worker.feed);
	return code;
}

/* -- what was not read ------------------------------------------------------------------------- */

static bool is_nothing_read(const struct ledger *ledger)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		if (ledger->read[class])
			return false;
	return ledger->foreign_events == 0;
}

/* Books streams that were cut or failed, and traces without streams. */
static int book_failures(const struct plan *plan, const struct reader_options *options,
                         struct feed *total, struct flextrace_error *error)
{
	struct ledger *ledger = &total->decoder.ledger;
	struct loss_place nowhere = LOSS_NOWHERE;
	struct {
		enum loss_cause cause;
		uint64_t n;
	} lost[] = {
		{LOSS_TRUNCATED_STREAM, plan->n_lost},
		{LOSS_CHANNEL_NOT_CREATED, plan->n_empty},
		{LOSS_OVERWRITTEN, plan->fronts.overwritten},
		{LOSS_MISSING_PACKETS, plan->fronts.elsewhere},
		{LOSS_TORN_PACKETS, plan->n_torn},
	};
	const char *failure = NULL;

	for (uint32_t i = 0; i < plan->n_ports; i++) {
		if (!plan->ports[i].failure)
			continue;
		failure = plan->ports[i].failure;
		lost[0].n++;
		if (options->warn)
			options->warn(options->context, failure);
	}
	if (failure && is_nothing_read(ledger))
		return error_set(error, FLEXTRACE_E_INPUT, "%s", failure);
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++)
		FLEXTRACE_TRY(ledger_lose(ledger, lost[i].cause, &nowhere, lost[i].n, INT64_MIN));
	ledger->warnings[WARNING_BEGINS_LATE] += plan->fronts.elsewhere;
	feed_warn(total, options->warn, options->context);
	return feed_book_losses(total);
}

static int read_plan(struct plan *plan, const struct reader_options *options,
                     struct string_pool *strings, struct stream_set *set, struct ledger *ledger,
                     struct flextrace_error *error)
{
	uint32_t n = options->n_workers < plan->n_ports ? options->n_workers : plan->n_ports;
	struct feed total;
	int code = feed_init(&total, strings);

	if (code < 0)
		return error_set(error, code, "Out of memory");
	code = run_workers(plan, n, options, strings, &total, error);
	if (code == 0)
		code = book_failures(plan, options, &total, error);
	if (code == 0)
		code = stream_set_take(set, &total.set);
	if (code == 0)
		code = ledger_add(ledger, &total.decoder.ledger);
	feed_release(&total);
	return code;
}

int reader_run(const struct reader_options *options, struct string_pool *strings,
               struct stream_set *set, struct ledger *ledger, struct flextrace_error *error)
{
	struct plugins plugins;
	struct plan plan;
	int code;

	FLEXTRACE_TRY(plugins_load(&plugins, error));
	code = plan_init(&plan, &plugins, options, error);
	if (code == 0 && options->is_careful) {
		code = check_ports(&plan, &plugins, strings);
		if (code < 0)
			error_set(error, code, "Cannot look at streams one by one");
	}
	if (code == 0)
		code = read_plan(&plan, options, strings, set, ledger, error);
	plan_release(&plan);
	plugins_release(&plugins);
	return code;
}
