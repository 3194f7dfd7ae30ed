/* SPDX-License-Identifier: Apache-2.0 */
/* What threads did: calls of runtimes and of the system, and the ranges of NVTX. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/words/told.h"
#include "nsys_impl.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Behind all numbers that tie calls to what they launch, which have 32 bits. */
#define FIRST_ASYNC (UINT64_C(1) << 40)

/* -- calls ----------------------------------------------------------------------------------- */

/* With a backtrace a call is told twice. */
static const char *category_of_call(const struct nsys_rows *rows, const char *name)
{
	enum { BACKTRACE = 67 };
	int64_t class;

	if (nsys_integer(rows, NSYS_EVENT_CLASS, &class) && class == BACKTRACE)
		return "cuda_backtrace";
	return strncmp(name, "cuda", 4) == 0 ? "cuda_runtime" : "cuda_driver";
}

int nsys_take_call(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	const char *category = nsys->table->category;
	struct flextrace_scope scope = {.kind = FLEXTRACE_RUNTIME_CALL};
	int64_t number;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_NAME_ID, &scope.name));
	if (!category)
		category = category_of_call(rows, scope.name);
	if (nsys_integer(rows, NSYS_CORRELATION, &number) && number > 0)
		scope.correlation = (uint64_t)number;
	FLEXTRACE_TRY(nsys_nccl_launch(nsys, span, scope.correlation));
	nsys_args_begin(nsys, category);
	if (nsys_integer(rows, NSYS_RETURN, &number) && number)
		nsys_args_number(nsys, "return value", number);
	return nsys_write_scope(nsys, rows, span, &scope);
}

/* -- names of NVTX --------------------------------------------------------------------------- */

/* Types of the rows of NVTX_EVENTS, as nsys numbers its events. */
enum nvtx_type {
	NVTX_CATEGORY = 33,
	NVTX_MARK = 34,
	NVTX_PUSH = 35,
	NVTX_START = 37,
	NVTX_THREAD = 39,
	NVTX_PUSH_POP = 59,
	NVTX_START_END = 60,
	NVTXT_PUSH_POP = 70,
	NVTXT_START_END = 71,
	NVTX_DOMAIN = 75,
	NVTX_DOMAIN_END = 76,
	NVTX_CUDA_DEVICE = 97,
	NVTX_CUDA_STREAM = 99
};

static int text_of(struct nsys *nsys, const struct nsys_rows *rows, const char **ret_text)
{
	*ret_text = nsys_text(rows, NSYS_TEXT);
	return *ret_text ? FLEXTRACE_OK : nsys_name(nsys, rows, NSYS_TEXT_ID, ret_text);
}

/* Domains and categories are numbered by each process; a domain is its category -1. */
static uint64_t process_key(const struct nsys_rows *rows)
{
	int64_t global = 0;

	nsys_integer(rows, NSYS_GLOBAL_TID, &global);
	return (uint64_t)global >> 24;
}

static uint64_t name_key(const struct nsys_rows *rows, int64_t category)
{
	int64_t domain = 0;

	nsys_integer(rows, NSYS_DOMAIN, &domain);
	return (uint64_t)domain << 33 | ((uint64_t)category + 1);
}

static int visit_name(struct nsys *nsys, const struct nsys_rows *rows)
{
	int64_t type, category = -1;
	const char *text;
	uint32_t string;

	if (!nsys_integer(rows, NSYS_EVENT_TYPE, &type) ||
	    (type != NVTX_DOMAIN && type != NVTX_CATEGORY))
		return FLEXTRACE_OK;
	if (type == NVTX_CATEGORY && !nsys_integer(rows, NSYS_CATEGORY, &category))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(text_of(nsys, rows, &text));
	FLEXTRACE_TRY(string_intern(&nsys->import.cache, text, &string));
	return map_put(&nsys->nvtx_names, process_key(rows), name_key(rows, category), string);
}

int nsys_read_nvtx_names(struct nsys *nsys)
{
	return nsys_each(nsys, "NVTX_EVENTS", visit_name);
}

static const char *name_of(const struct nsys *nsys, const struct nsys_rows *rows, int64_t category)
{
	uint32_t string = map_find(&nsys->nvtx_names, process_key(rows), name_key(rows, category));

	return string == MAP_NONE ? NULL : string_get(nsys->import.strings, string);
}

/* -- ranges of NVTX -------------------------------------------------------------------------- */

/* A payload that is one value, of which one is told at most. */
static int add_value(struct nsys *nsys, const struct nsys_rows *rows)
{
	static const struct nsys_member numbers[] = {
		{NSYS_INT64, "payload"}, {NSYS_UINT32, "payload"}, {NSYS_INT32, "payload"}};
	const char *json = nsys_text(rows, NSYS_JSON);
	char text[40];
	double real = NAN;
	int64_t value;

	if (!json)
		FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_JSON_ID, &json));
	if (*json && told_is_json(json))
		json_text_raw(&nsys->args, "payload", json);
	else if (*json)
		json_text_string(&nsys->args, "payload", json);
	if (nsys_integer(rows, NSYS_UINT64, &value))
		json_text_number(&nsys->args, "payload", (uint64_t)value);
	nsys_args_columns(nsys, rows, numbers, COUNT(numbers));
	if (!nsys_double(rows, NSYS_DOUBLE, &real))
		nsys_double(rows, NSYS_FLOAT, &real);
	snprintf(text, sizeof(text), "%.17g", real);
	if (isfinite(real))
		json_text_raw(&nsys->args, "payload", text);
	return FLEXTRACE_OK;
}

static int begin_args(struct nsys *nsys, const struct nsys_rows *rows)
{
	const char *domain = name_of(nsys, rows, -1), *name;
	int64_t number;

	nsys_args_begin(nsys, nsys->table->category);
	if (domain)
		json_text_string(&nsys->args, "domain", domain);
	else if (nsys_integer(rows, NSYS_DOMAIN, &number) && number)
		nsys_args_number(nsys, "domain", number);
	if (nsys_integer(rows, NSYS_CATEGORY, &number)) {
		name = name_of(nsys, rows, number);
		if (name)
			json_text_string(&nsys->args, "category", name);
		else
			nsys_args_number(nsys, "category", number);
	}
	return add_value(nsys, rows);
}

static int take_range(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      const char *name)
{
	struct flextrace_scope scope = {.kind = FLEXTRACE_RUNTIME_USER, .name = name};

	FLEXTRACE_TRY(begin_args(nsys, rows));
	FLEXTRACE_TRY(nsys_take_payload(nsys, rows, span, name));
	return nsys_write_scope(nsys, rows, span, &scope);
}

/* A range that another thread may end, and that need not nest. */
static int take_free_range(struct nsys *nsys, const struct nsys_rows *rows,
                           const struct nsys_span *span, const char *name)
{
	struct event event = nsys_event(nsys, rows, span, RECORD_ASYNC_BEGIN);

	event.clock_ns = span->begin_ns;
	event.payload.edge.name = name;
	event.payload.edge.correlation = FIRST_ASYNC + nsys->n_asyncs++;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	if (!span->has_end)
		return FLEXTRACE_OK;
	event.class = RECORD_ASYNC_END;
	event.clock_ns = span->end_ns;
	return nsys_write(nsys, &event);
}

static int take_mark(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                     const char *name)
{
	struct event event = nsys_event(nsys, rows, span, RECORD_INSTANT);

	event.clock_ns = span->begin_ns;
	event.payload.instant.name = name;
	return nsys_write(nsys, &event);
}

int nsys_take_nvtx(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	int64_t type = -1;
	const char *name;

	nsys_integer(rows, NSYS_EVENT_TYPE, &type);
	FLEXTRACE_TRY(text_of(nsys, rows, &name));
	switch (type) {
	case NVTX_PUSH:
	case NVTX_PUSH_POP:
	case NVTXT_PUSH_POP:
		return take_range(nsys, rows, span, name);
	case NVTX_START:
	case NVTX_START_END:
	case NVTXT_START_END:
		return take_free_range(nsys, rows, span, name);
	case NVTX_MARK:
		return take_mark(nsys, rows, span, name);
	case NVTX_CATEGORY:
	case NVTX_THREAD:
	case NVTX_DOMAIN:
	case NVTX_DOMAIN_END:
		return FLEXTRACE_OK; /* names */
	default:
		if (type >= NVTX_CUDA_DEVICE && type <= NVTX_CUDA_STREAM)
			return FLEXTRACE_OK;
		return nsys_reject(nsys, rows, LOSS_UNKNOWN_EVENT, "its type is not known");
	}
}
