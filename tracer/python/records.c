/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c: the macros of flextrace.h as functions.
 */
#include "records.h"

int records_are_stopped;

#define EXPORT_RECORD(name, parameters, record) \
	EXPORT(void, name, parameters)          \
	{                                       \
		if (!records_are_stopped) {     \
			record;                 \
		}                               \
	}

EXPORT_RECORD(async_begin, (const char *name, uint64_t id), FLEXTRACE_ASYNC_BEGIN(name, id))
EXPORT_RECORD(instant, (const char *name), FLEXTRACE_INSTANT(name))
EXPORT_RECORD(counter, (const char *name, double value), FLEXTRACE_COUNTER(name, value))
EXPORT_RECORD(annotate, (const char *key, const char *value), FLEXTRACE_ANNOTATE(key, value))
EXPORT_RECORD(step, (uint64_t number), FLEXTRACE_STEP(number))

/* Also when stopped: what has begun ends, and what something is called stays. */
#define EXPORT_ALWAYS(type, name, parameters, result) \
	EXPORT(type, name, parameters)                \
	{                                             \
		result;                               \
	}

EXPORT_ALWAYS(void, async_end, (const char *name, uint64_t id), FLEXTRACE_ASYNC_END(name, id))
EXPORT_ALWAYS(void, window_begin, (const char *name), flextrace_window_begin(name))
EXPORT_ALWAYS(void, window_end, (const char *name), flextrace_window_end(name))
EXPORT_ALWAYS(void, thread_name, (const char *name), FLEXTRACE_THREAD_NAME(name))
EXPORT_ALWAYS(void, process, (const char *name, const char *version),
              flextrace_process(name, version))
EXPORT_ALWAYS(void, set_dialect, (const char *name), flextrace_set_dialect(name))
EXPORT_ALWAYS(void, set_rank, (int rank, int world_size), flextrace_set_rank(rank, world_size))
EXPORT_ALWAYS(uint64_t, next_id, (void), return flextrace_next_correlation())
EXPORT_ALWAYS(void, record, (int is_on), records_are_stopped = !is_on)

/* 1 while scopes are recorded. */
EXPORT_ALWAYS(int, is_on, (void), return RECORDS_ON(scope) != 0)

/* 1 if there is a provider, so that something may be recorded some day. */
EXPORT_ALWAYS(int, can_record, (void),
              return __atomic_load_n(&flextrace_i_api, __ATOMIC_ACQUIRE) != NULL)

/* No macro takes an interval that began before its call. */
EXPORT(void, scope,
       (uint64_t begin_ns, const char *name, const char *file, uint32_t line, const char *args))
{
	struct flextrace_scope scope = {
		sizeof(scope), FLEXTRACE_RUNTIME_USER, begin_ns, name, 0, NULL, file, line};

	if (!RECORDS_ON(scope))
		return;
	if (args && FLEXTRACE_ENABLED(scope_args)) {
		const struct flextrace_scope_args payload = {sizeof(payload),
		                                             flextrace_next_correlation(), args};

		scope.correlation = payload.correlation;
		FLEXTRACE_I_SEND(scope_args, &payload);
	}
	FLEXTRACE_I_SEND(scope, &scope);
}
