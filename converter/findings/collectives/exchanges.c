/* SPDX-License-Identifier: Apache-2.0 */
#include "exchanges.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/intervals/cover.h"
#include "base/order.h"
#include "findings/work/work.h"

void exchange_rates(uint64_t bytes, uint64_t dur_ns, double size, double bus, double *ret_alg_gbps,
                    double *ret_bus_gbps)
{
	bool has_rate = dur_ns && bytes;
	double rate = (double)bytes * size / (double)dur_ns; /* bytes per ns: GB/s */

	*ret_alg_gbps = has_rate && size > 0 ? rate : (double)NAN;
	*ret_bus_gbps = has_rate && bus > 0 ? rate * bus : (double)NAN;
}

static int add(struct exchanges *exchanges, struct exchange exchange, const char *op, double size,
               double bus)
{
	if (!exchanges->n || exchange.process != exchanges->all[0].process)
		exchanges->n_processes += exchanges->n_processes < 2;
	exchange.op = exchanges->n ? exchanges->all[exchanges->n - 1].op : 0;
	FLEXTRACE_TRY(string_intern_again(&exchanges->collectives.names_cache, op, &exchange.op));
	exchange_rates(exchange.bytes, interval_ns(exchange.start_time_ns, exchange.end_time_ns),
	               size, bus, &exchange.alg_gbps, &exchange.bus_gbps);
	return ARRAY_PUSH(exchanges->all, exchanges->n, exchange);
}

static int add_parts(struct exchanges *exchanges)
{
	const struct collectives *collectives = &exchanges->collectives;

	for (uint32_t i = 0; i < collectives->n_parts; i++) {
		const struct collective_part *part = &collectives->parts[i];
		struct exchange exchange = {
			.start_time_ns = part->start_time_ns,
			.end_time_ns = part->end_time_ns,
			.bytes = part->bytes,
			.wait_ns = collective_part_wait_ns(part),
			.process = part->process,
			.device = part->device,
			.collective = part->collective,
			.err_ns = part->err_ns,
		};
		double size, bus;
		const char *op = collective_part_op(collectives, part, &size, &bus);

		FLEXTRACE_TRY(add(exchanges, exchange, op, size, bus));
	}
	return FLEXTRACE_OK;
}

/* Device work that nobody said whom it was with. */
static int add_work(struct exchanges *exchanges, const struct work *work)
{
	const struct timeline *timeline = exchanges->collectives.timeline;
	const char *name = string_get(timeline->strings, work->name);
	const char *op = "peer_copy";
	struct exchange exchange = {
		.start_time_ns = work->row->start_time_ns,
		.end_time_ns = work->row->end_time_ns,
		.bytes = work->op->bytes,
		.wait_ns = UINT64_MAX,
		.process = work->process,
		.device = work->device,
		.collective = exchanges->collectives.n_collectives,
		.err_ns = work->row->err_ns,
	};
	double size = 1, bus = 1;

	if (exchanges->collectives.n_collectives++ == UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	if (work->row->kind == ROW_EXEC)
		op = collective_op(name, 0, &size, &bus) ?: name;
	return add(exchanges, exchange, op, size, bus);
}

/* -- what is hidden ---------------------------------------------------------------------------- */

/* By device, and behind these by process: covers of those that exchange anything. */
struct covers {
	struct cover *all; /* owned, both */
	bool *is_wanted;
	uint32_t n_devices;
};

static uint32_t cover_of(const struct covers *covers, const struct exchange *exchange)
{
	return exchange->device == FLEXTRACE_NONE ? covers->n_devices + exchange->process
	                                          : exchange->device;
}

static int cover_computation(const struct covers *covers, const struct timeline *timeline)
{
	struct work_reader reader;
	struct work work;
	int code = work_read(&reader, timeline);

	while (code >= 0 && (code = work_next(&reader, &work)) > 0) {
		uint32_t places[] = {work.device, covers->n_devices + work.process};

		for (int i = 0; i < 2 && code > 0 && work.class == WORK_COMPUTE; i++) {
			if (covers->is_wanted[places[i]])
				code = cover_add(&covers->all[places[i]], work.row->start_time_ns,
				                 work.row->end_time_ns)
				               ?: 1;
		}
	}
	work_release(&reader);
	return code;
}

static int hide(struct exchanges *exchanges, struct covers *covers)
{
	const struct timeline *timeline = exchanges->collectives.timeline;
	uint32_t n = covers->n_devices + timeline->identity->n_processes;
	int code;

	FLEXTRACE_TRY(ARRAY_NEW(covers->all, n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(covers->is_wanted, n + 1ull));
	for (uint32_t i = 0; i < exchanges->n; i++)
		covers->is_wanted[cover_of(covers, &exchanges->all[i])] = true;
	code = cover_computation(covers, timeline);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < exchanges->n; i++) {
		struct exchange *exchange = &exchanges->all[i];

		exchange->hidden_ns = cover_ns(&covers->all[cover_of(covers, exchange)],
		                               exchange->start_time_ns, exchange->end_time_ns);
	}
	for (uint32_t i = 0; i < n; i++)
		cover_release(&covers->all[i]);
	return code;
}

/* -- the sentence ------------------------------------------------------------------------------ */

static int add_works(struct exchanges *exchanges)
{
	struct work_reader reader;
	struct work work;
	int code = work_read(&reader, exchanges->collectives.timeline);

	while (code >= 0 && (code = work_next(&reader, &work)) > 0) {
		if (work.class == WORK_COMMUNICATION && !work.op->group)
			code = add_work(exchanges, &work);
	}
	work_release(&reader);
	return code;
}

/* Parts came by start. */
static int compare_exchanges(const void *left, const void *right, void *context)
{
	const struct owners *owners = context;
	const struct exchange *a = left, *b = right;

	return ORDER(a->collective, b->collective) ?: ORDER(a->start_time_ns, b->start_time_ns) ?:
	       ORDER(owners->positions[a->process], owners->positions[b->process]) ?:
	       ORDER(a->device, b->device) ?: ORDER(a->end_time_ns, b->end_time_ns);
}

int exchanges_find(struct exchanges *exchanges, const struct findings *findings)
{
	struct covers covers = {.n_devices = findings->timeline->identity->n_devices};
	int code;

	*exchanges = (struct exchanges){.n = 0};
	code = collectives_find(&exchanges->collectives, findings);
	if (code == FLEXTRACE_OK)
		code = add_parts(exchanges);
	if (code == FLEXTRACE_OK)
		code = add_works(exchanges);
	if (code == FLEXTRACE_OK && exchanges->n) {
		code = hide(exchanges, &covers);
		qsort_r(exchanges->all, exchanges->n, sizeof(*exchanges->all), compare_exchanges,
		        (void *)(uintptr_t)findings->owners);
	}
	free(covers.all);
	free(covers.is_wanted);
	return code;
}

void exchanges_release(struct exchanges *exchanges)
{
	collectives_release(&exchanges->collectives);
	free(exchanges->all);
	exchanges->all = NULL;
}

bool exchanges_are_close(const struct exchange *one, const struct exchange *later)
{
	return one->err_ns == UINT32_MAX || later->err_ns == UINT32_MAX ||
	       interval_ns(one->start_time_ns, later->start_time_ns) <=
	               (uint64_t)one->err_ns + later->err_ns;
}

bool exchanges_next(const struct exchanges *exchanges, struct together *together)
{
	const struct exchange *first = together->first ? together->first + together->n
	                                               : exchanges->all;
	const struct exchange *end = exchanges->all + exchanges->n, *last = first;
	bool is_known = true;

	if (first == end)
		return false;
	*together = (struct together){.first = first, .skew_ns = UINT64_MAX};
	together->alg_gbps = together->bus_gbps = NAN;
	for (const struct exchange *at = first; at < end; at++) {
		if (at->collective != first->collective)
			break;
		together->n++;
		is_known = is_known && at->wait_ns != UINT64_MAX;
		together->alg_gbps = fmax(together->alg_gbps, at->alg_gbps);
		together->bus_gbps = fmax(together->bus_gbps, at->bus_gbps);
		last = at;
	}
	if (!is_known || together->n == 1)
		return true;
	together->skew_ns = interval_ns(first->start_time_ns, last->start_time_ns);
	together->is_unsure = exchanges_are_close(first, last);
	return true;
}
