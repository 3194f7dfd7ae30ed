/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flextrace_impl.h: what the macros of flextrace.h expand to. Nothing here is for users; all of it
 * may change between versions.
 *
 * How a call site stays cheap and safe without LTTng:
 * - `flextrace_i_state[event]` points to LTTng's own state word of the event, or to a static 0
 *   while there is no provider or recording is masked. Off = two loads and a branch.
 * - Behind the branch `flextrace_i_api` is the provider's table of functions, one per event. The
 *   provider publishes the table before it swaps a state pointer. A reader may still see the new
 *   pointer before the new table; it then finds NULL and drops the record.
 * - Neither is ever freed: the provider is never unloaded.
 *
 * Both variables are hidden: each program or shared library that links libflextrace.a has its own
 * copy, of its own version. The provider knows all copies and is the one thing there is once in a
 * process, so that what belongs to the process (start time, rank, windows) lives there.
 */
#ifndef FLEXTRACE_IMPL_H
#define FLEXTRACE_IMPL_H

#include <stddef.h>

#include <flextrace/args.h>
#include <flextrace/events.h>

#ifdef __cplusplus
#define FLEXTRACE_I_CAST(type, value) static_cast<type>(value)
extern "C" {
#else
#define FLEXTRACE_I_CAST(type, value) ((type)(value))
#endif
#define FLEXTRACE_I_U32(value) FLEXTRACE_I_CAST(uint32_t, value)
#define FLEXTRACE_I_U64(value) FLEXTRACE_I_CAST(uint64_t, value)

#define FLEXTRACE_ARGS_BYTES 256 /* longest string of FLEXTRACE_SCOPE_ARGS, with its NUL */

/* X(event, payload struct): all events in the order of the trace model; only ever appended to. */
#define FLEXTRACE_I_EVENTS(X)                     \
	X(process, flextrace_process)             \
	X(device, flextrace_device)               \
	X(clock_domain, flextrace_clock_domain)   \
	X(thread_name, flextrace_name)            \
	X(queue_name, flextrace_name)             \
	X(marker_name, flextrace_name)            \
	X(scope, flextrace_scope)                 \
	X(scope_args, flextrace_scope_args)       \
	X(begin, flextrace_span_edge)             \
	X(end, flextrace_span_edge)               \
	X(async_begin, flextrace_span_edge)       \
	X(async_end, flextrace_span_edge)         \
	X(instant, flextrace_instant)             \
	X(counter, flextrace_counter)             \
	X(annotation, flextrace_annotation)       \
	X(device_op, flextrace_device_op)         \
	X(submit, flextrace_bracket)              \
	X(complete, flextrace_bracket)            \
	X(host_estimate, flextrace_host_estimate) \
	X(marker_batch, flextrace_marker_batch)   \
	X(clock_sync, flextrace_clock_sync)       \
	X(collective, flextrace_collective)       \
	X(memory, flextrace_memory)               \
	X(step, flextrace_step)                   \
	X(window, flextrace_window)               \
	X(op, flextrace_op)                       \
	X(tensor, flextrace_tensor)               \
	X(op_info, flextrace_op_info)             \
	X(span, flextrace_span)                   \
	X(async_span, flextrace_span)             \
	X(flow, flextrace_flow)

enum flextrace_i_event {
#define FLEXTRACE_I_ENUMERATOR(event, payload) flextrace_i_event_##event,
	FLEXTRACE_I_EVENTS(FLEXTRACE_I_ENUMERATOR)
#undef FLEXTRACE_I_ENUMERATOR
		flextrace_i_n_events
};

/*
 * What is one per process although libflextrace may be there several times. Written with atomic
 * stores; strings are never freed.
 */
struct flextrace_i_identity {
	uint64_t start_ns; /* 0 until the provider is set up; new after a fork */
	uint64_t next_correlation;
	int32_t rank;
	int32_t world_size;
	const char *runtime;
	const char *version;
	const char *dialect; /* NULL: it chose none */
};

/* One copy of libflextrace in the process, known to the provider from attach() to detach(). */
struct flextrace_i_client {
	size_t size;                     /* of this struct */
	const int **state;               /* its flextrace_i_state, written by the provider */
	size_t n_states;                 /* events this copy knows */
	uint64_t off;                    /* bit e: event e stays off (FLEXTRACE_DEVICE=off) */
	void (*dump)(void);              /* records all definitions; any thread; only emits */
	void (*forked)(void);            /* in the child of a fork, single-threaded; no records */
	struct flextrace_i_client *next; /* the provider's */
};

/* The provider's table. Later versions append members; `size` tells how many there are. */
struct flextrace_i_api {
	size_t size; /* of this struct */
	struct flextrace_i_identity *identity;
	void (*attach)(struct flextrace_i_client *client);
	void (*detach)(struct flextrace_i_client *client);
#define FLEXTRACE_I_MEMBER(event, payload) void (*event)(const struct payload *);
	FLEXTRACE_I_EVENTS(FLEXTRACE_I_MEMBER)
#undef FLEXTRACE_I_MEMBER
};

/*
 * What the provider does for the process it is a guest in, beside records. Later versions append
 * members; an older provider has no such table.
 */
struct flextrace_i_services {
	size_t size; /* of this struct */
	void (*init_thread)(void);
	int (*enter_handler)(enum flextrace_i_event event); /* 0 = counted as left out */
	uint64_t (*n_unrecorded)(void);
	int (*close)(int fd, int (*real)(int fd));
	int (*close_range)(unsigned int first, unsigned int last, int (*real)(int fd));
	/* LTTng has waited for its daemon; where a recording wants the process it waits on. */
	void (*registered)(uint64_t waited_ns, uint64_t limit_ns, int may_wait, int may_tell);
	void (*leave_out)(uint64_t n); /* counts records that were not made */
};

/*
 * Problem: strict C99 and C11 hide clock_gettime() in <time.h>, and a call into libflextrace would
 * cost every scope two more calls. So the C library's function is declared here under a name of
 * our own, for the one layout that all 64-bit Linux hosts share.
 */
struct flextrace_i_timespec {
	long tv_sec;
	long tv_nsec;
};
int flextrace_i_clock_gettime(int clock,
                              struct flextrace_i_timespec *time) __asm__("clock_gettime");

static inline uint64_t flextrace_i_now_ns(void)
{
	struct flextrace_i_timespec now;

	(void)flextrace_i_clock_gettime(1 /* CLOCK_MONOTONIC */, &now);
	return FLEXTRACE_I_U64(now.tv_sec) * 1000000000u + FLEXTRACE_I_U64(now.tv_nsec);
}

/* The same: no header of ours includes <pthread.h>. */
unsigned long flextrace_i_pthread_self(void) __asm__("pthread_self");

/* A scope that is open until it is handed to FLEXTRACE_SCOPE_END(). */
struct flextrace_open_scope {
	struct flextrace_span span; /* begin_ns 0 = nothing will be recorded */
	unsigned long thread;       /* pthread_self() of the one that opened it */
};

#pragma GCC visibility push(hidden)

/* Under names of this format: objects and libraries of another one do not link with these. */
extern const int *flextrace_i_state[flextrace_i_n_events] __asm__("flextrace_i_state_2");
extern const struct flextrace_i_api *flextrace_i_api __asm__("flextrace_i_api_2"); /* NULL = none */

/* An open scope. begin_ns 0 = the event was off when it began: nothing will be recorded. */
struct flextrace_i_args_scope {
	struct flextrace_scope scope;
	char args[FLEXTRACE_ARGS_BYTES];
};
struct flextrace_i_scope_with {
	struct flextrace_scope scope;
	struct flextrace_args args;
};

void flextrace_i_thread_name(const char *name);
void flextrace_i_queue_name(uint32_t device, uint32_t queue, const char *name);
void flextrace_i_args_begin(struct flextrace_i_args_scope *args, const char *name, const char *file,
                            uint32_t line, const char *format, ...)
	__attribute__((__format__(__printf__, 5, 6)));
void flextrace_i_args_end(struct flextrace_i_args_scope *args);

/* Never defined: type-check what a disabled macro throws away. */
void flextrace_i_unused(uint32_t kind, const char *name, uint64_t correlation);
void flextrace_i_unused_args(const char *name, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));
void flextrace_i_unused_op(const char *name, const char *type, const char *attributes,
                           uint32_t n_cores, uint32_t depth, uint64_t correlation);

/* -- the choke macros: everything public funnels into these -- */

#ifdef FLEXTRACE_DISABLE
#define FLEXTRACE_I_ON(event)  0
#define FLEXTRACE_I_CALL(call) (0 ? (call) : (void)0)
#else
#define FLEXTRACE_I_ON(event)  __builtin_expect(flextrace_i_is_on(flextrace_i_event_##event), 0)
#define FLEXTRACE_I_CALL(call) (call)
#endif

#define FLEXTRACE_I_EMIT(event, call)      \
	do {                               \
		if (FLEXTRACE_I_ON(event)) \
			call;              \
	} while (0)

static inline int flextrace_i_is_on(enum flextrace_i_event event)
{
	return __atomic_load_n(__atomic_load_n(&flextrace_i_state[event], __ATOMIC_RELAXED),
	                       __ATOMIC_RELAXED) != 0;
}

/* Hands a payload to the provider; only behind FLEXTRACE_I_ON. */
#define FLEXTRACE_I_SEND(event, payload)                                     \
	do {                                                                 \
		const struct flextrace_i_api *flextrace_i_table =            \
			__atomic_load_n(&flextrace_i_api, __ATOMIC_ACQUIRE); \
                                                                             \
		if (flextrace_i_table)                                       \
			flextrace_i_table->event(payload);                   \
	} while (0)

/* 1 = this thread may record in a signal handler; 0 = it may not, and the record is counted. */
int flextrace_i_enter_handler(enum flextrace_i_event event);

#define FLEXTRACE_I_HANDLER(event, macro)                                                          \
	do {                                                                                       \
		if (FLEXTRACE_I_ON(event) && flextrace_i_enter_handler(flextrace_i_event_##event)) \
			macro;                                                                     \
	} while (0)

/* -- scopes -- */

/* The checked mode: what stands in for a name while its scope is open, and the name again, if it is
 * what it was; else the program ends. */
const char *flextrace_i_check_begin(const char *name);
const char *flextrace_i_check_end(const char *name, const char *file, uint32_t line);
#if defined(FLEXTRACE_CHECK) && FLEXTRACE_CHECK && !defined(FLEXTRACE_DISABLE)
#define FLEXTRACE_I_CHECKED(name) flextrace_i_check_begin(name)
#define FLEXTRACE_I_CHECK(scope) \
	((scope)->name = flextrace_i_check_end((scope)->name, (scope)->file, (scope)->line))
#else
#define FLEXTRACE_I_CHECKED(name) (name)
#define FLEXTRACE_I_CHECK(scope)  ((void)0)
#endif

#ifdef __FILE_NAME__
#define FLEXTRACE_I_FILE __FILE_NAME__ /* without folders: it is in every record */
#else
#define FLEXTRACE_I_FILE __FILE__
#endif
#define FLEXTRACE_I_PASTE2(a, b) a##b
#define FLEXTRACE_I_PASTE(a, b)  FLEXTRACE_I_PASTE2(a, b)
#define FLEXTRACE_I_UNIQUE       FLEXTRACE_I_PASTE(flextrace_i_scope_, __COUNTER__)
#define FLEXTRACE_I_AT_END(f)    __attribute__((__cleanup__(f), __unused__))

static inline void flextrace_i_scope_begin(struct flextrace_scope *scope, uint32_t kind,
                                           const char *name, uint64_t correlation, const char *file,
                                           uint32_t line)
{
	scope->size = sizeof(*scope);
	scope->kind = kind;
	scope->name = FLEXTRACE_I_CHECKED(name);
	scope->correlation = correlation;
	scope->file = file;
	scope->line = line;
	scope->args = NULL;
	scope->begin_ns = flextrace_i_now_ns();
}

static inline struct flextrace_open_scope flextrace_i_open(int is_on, uint32_t kind,
                                                           const char *name, uint64_t correlation,
                                                           const char *file, uint32_t line)
{
	struct flextrace_open_scope open = {
		{sizeof(struct flextrace_span), kind, 0, 0, name, correlation, NULL, file, line},
		0};

	if (is_on) {
		open.span.name = FLEXTRACE_I_CHECKED(name);
		open.thread = flextrace_i_pthread_self();
		open.span.begin_ns = flextrace_i_now_ns();
	}
	return open;
}

static inline void flextrace_i_open_end(struct flextrace_open_scope *open)
{
	if (!open->span.begin_ns)
		return;
	open->span.end_ns = flextrace_i_now_ns();
	FLEXTRACE_I_CHECK(&open->span);
	if (open->thread == flextrace_i_pthread_self())
		FLEXTRACE_I_SEND(span, &open->span);
	else if (flextrace_i_is_on(flextrace_i_event_async_span))
		FLEXTRACE_I_SEND(async_span, &open->span);
	open->span.begin_ns = 0;
}

static inline void flextrace_i_scope_end(struct flextrace_scope *scope)
{
	if (__builtin_expect(!scope->begin_ns, 1))
		return;
	FLEXTRACE_I_CHECK(scope);
	if (flextrace_i_is_on(flextrace_i_event_scope))
		FLEXTRACE_I_SEND(scope, scope);
}

static inline void flextrace_i_scope_with_end(struct flextrace_i_scope_with *with)
{
	flextrace_i_scope_end(&with->scope);
}

static inline struct flextrace_args *flextrace_i_args_clear(struct flextrace_args *args)
{
	args->n_bytes = args->n_left_out = 0;
	args->text[0] = '\0';
	return args;
}

#ifdef FLEXTRACE_DISABLE
#define FLEXTRACE_I_SCOPE(kind, name, correlation) \
	FLEXTRACE_I_CALL(                          \
		flextrace_i_unused(FLEXTRACE_I_U32(kind), name, FLEXTRACE_I_U64(correlation)))
#define FLEXTRACE_I_SCOPE_IF(condition, kind, name) \
	FLEXTRACE_I_CALL(flextrace_i_unused(FLEXTRACE_I_U32(kind), name, !(condition)))
#define FLEXTRACE_I_HANDLER_SCOPE(kind, name, correlation) \
	FLEXTRACE_I_SCOPE(kind, name, correlation)
#define FLEXTRACE_I_SCOPE_ARGS(name, ...) \
	FLEXTRACE_I_CALL(flextrace_i_unused_args(name, __VA_ARGS__))
#define FLEXTRACE_I_SCOPE_WITH(kind, name, correlation, ...)    \
	do {                                                    \
		struct flextrace_args *flextrace_i_args = NULL; \
		(void)flextrace_i_args;                         \
		FLEXTRACE_I_SCOPE(kind, name, correlation);     \
		FLEXTRACE_I_CALL((__VA_ARGS__));                \
	} while (0)
#define FLEXTRACE_I_OP_SCOPE(name, type, attributes, n_cores, depth, correlation)                \
	FLEXTRACE_I_CALL(flextrace_i_unused_op(name, type, attributes, FLEXTRACE_I_U32(n_cores), \
	                                       FLEXTRACE_I_U32(depth),                           \
	                                       FLEXTRACE_I_U64(correlation)))
#else
#define FLEXTRACE_I_SCOPE(kind, name, correlation) \
	FLEXTRACE_I_SCOPE_VAR(FLEXTRACE_I_UNIQUE, kind, name, correlation)
#define FLEXTRACE_I_SCOPE_VAR(var, kind, name, correlation)                                \
	struct flextrace_scope var FLEXTRACE_I_AT_END(flextrace_i_scope_end);              \
	var.begin_ns = 0;                                                                  \
	FLEXTRACE_I_EMIT(scope, flextrace_i_scope_begin(&var, FLEXTRACE_I_U32(kind), name, \
	                                                FLEXTRACE_I_U64(correlation),      \
	                                                FLEXTRACE_I_FILE, __LINE__))

#define FLEXTRACE_I_SCOPE_WITH(kind, name, correlation, ...) \
	FLEXTRACE_I_SCOPE_WITH_VAR(FLEXTRACE_I_UNIQUE, kind, name, correlation, __VA_ARGS__)
#define FLEXTRACE_I_SCOPE_WITH_VAR(var, kind, name, correlation, ...)                           \
	struct flextrace_i_scope_with var FLEXTRACE_I_AT_END(flextrace_i_scope_with_end);       \
	var.scope.begin_ns = 0;                                                                 \
	do {                                                                                    \
		if (FLEXTRACE_I_ON(scope)) {                                                    \
			struct flextrace_args *flextrace_i_args =                               \
				flextrace_i_args_clear(&var.args);                              \
                                                                                                \
			(__VA_ARGS__);                                                          \
			flextrace_i_scope_begin(&var.scope, FLEXTRACE_I_U32(kind), name,        \
			                        FLEXTRACE_I_U64(correlation), FLEXTRACE_I_FILE, \
			                        __LINE__);                                      \
			var.scope.args = var.args.text;                                         \
		}                                                                               \
	} while (0)

#define FLEXTRACE_I_SCOPE_IF(condition, kind, name) \
	FLEXTRACE_I_SCOPE_IF_VAR(FLEXTRACE_I_UNIQUE, condition, kind, name)
#define FLEXTRACE_I_SCOPE_IF_VAR(var, condition, kind, name)                          \
	struct flextrace_scope var FLEXTRACE_I_AT_END(flextrace_i_scope_end);         \
	var.begin_ns = 0;                                                             \
	do {                                                                          \
		if (FLEXTRACE_I_ON(scope) && (condition))                             \
			flextrace_i_scope_begin(&var, FLEXTRACE_I_U32(kind), name, 0, \
			                        FLEXTRACE_I_FILE, __LINE__);          \
	} while (0)

#define FLEXTRACE_I_HANDLER_SCOPE(kind, name, correlation) \
	FLEXTRACE_I_HANDLER_SCOPE_VAR(FLEXTRACE_I_UNIQUE, kind, name, correlation)
#define FLEXTRACE_I_HANDLER_SCOPE_VAR(var, kind, name, correlation)                           \
	struct flextrace_scope var FLEXTRACE_I_AT_END(flextrace_i_scope_end);                 \
	var.begin_ns = 0;                                                                     \
	FLEXTRACE_I_HANDLER(scope, flextrace_i_scope_begin(&var, FLEXTRACE_I_U32(kind), name, \
	                                                   FLEXTRACE_I_U64(correlation),      \
	                                                   FLEXTRACE_I_FILE, __LINE__))

#define FLEXTRACE_I_SCOPE_ARGS(name, ...) \
	FLEXTRACE_I_SCOPE_ARGS_VAR(FLEXTRACE_I_UNIQUE, name, __VA_ARGS__)
#define FLEXTRACE_I_SCOPE_ARGS_VAR(var, name, ...)                                        \
	struct flextrace_i_args_scope var FLEXTRACE_I_AT_END(flextrace_i_args_scope_end); \
	var.scope.begin_ns = 0;                                                           \
	FLEXTRACE_I_EMIT(scope, flextrace_i_args_begin(&var, FLEXTRACE_I_CHECKED(name),   \
	                                               FLEXTRACE_I_FILE, __LINE__, __VA_ARGS__))

#define FLEXTRACE_I_OP_SCOPE(name, type, attributes, n_cores, depth, correlation)            \
	FLEXTRACE_I_OP_SCOPE_VAR(FLEXTRACE_I_UNIQUE, name, type, attributes, n_cores, depth, \
	                         correlation)
#define FLEXTRACE_I_OP_SCOPE_VAR(var, name, type, attributes, n_cores, depth, correlation)        \
	struct flextrace_scope var FLEXTRACE_I_AT_END(flextrace_i_scope_end);                     \
	var.begin_ns = 0;                                                                         \
	do {                                                                                      \
		if (FLEXTRACE_I_ON(scope) || FLEXTRACE_I_ON(op)) {                                \
			const struct flextrace_op flextrace_i_op = {sizeof(struct flextrace_op),  \
			                                            FLEXTRACE_I_U64(correlation), \
			                                            type,                         \
			                                            attributes,                   \
			                                            FLEXTRACE_I_U32(n_cores),     \
			                                            FLEXTRACE_I_U32(depth)};      \
			flextrace_i_op_begin(&var, name, &flextrace_i_op, FLEXTRACE_I_FILE,       \
			                     __LINE__);                                           \
		}                                                                                 \
	} while (0)
#endif

static inline void flextrace_i_args_scope_end(struct flextrace_i_args_scope *args)
{
	if (__builtin_expect(!args->scope.begin_ns, 1))
		return;
	FLEXTRACE_I_CHECK(&args->scope);
	flextrace_i_args_end(args);
}

static inline void flextrace_i_op_begin(struct flextrace_scope *scope, const char *name,
                                        const struct flextrace_op *op, const char *file,
                                        uint32_t line)
{
	if (flextrace_i_is_on(flextrace_i_event_op))
		FLEXTRACE_I_SEND(op, op);
	if (flextrace_i_is_on(flextrace_i_event_scope))
		flextrace_i_scope_begin(scope, FLEXTRACE_RUNTIME_OP, name, op->correlation, file,
		                        line);
}

/* -- records with few members: gather the arguments, hand over the payload -- */

#define FLEXTRACE_I_RECORD(event, payload, parameters, ...)                                       \
	static inline void flextrace_i_##event parameters                                         \
	{                                                                                         \
		const struct payload flextrace_i_payload = {sizeof(struct payload), __VA_ARGS__}; \
                                                                                                  \
		FLEXTRACE_I_SEND(event, &flextrace_i_payload);                                    \
	}
#define FLEXTRACE_I_EDGE(event)                        \
	FLEXTRACE_I_RECORD(event, flextrace_span_edge, \
	                   (uint32_t kind, const char *name, uint64_t id), kind, name, id)
#define FLEXTRACE_I_PASS(event, payload)                                    \
	static inline void flextrace_i_##event(const struct payload *whole) \
	{                                                                   \
		FLEXTRACE_I_SEND(event, whole);                             \
	}

FLEXTRACE_I_EDGE(begin)
FLEXTRACE_I_EDGE(end)
FLEXTRACE_I_EDGE(async_begin)
FLEXTRACE_I_EDGE(async_end)
FLEXTRACE_I_PASS(span, flextrace_span)
FLEXTRACE_I_PASS(device_op, flextrace_device_op)
FLEXTRACE_I_PASS(host_estimate, flextrace_host_estimate)
FLEXTRACE_I_PASS(submit, flextrace_bracket)
FLEXTRACE_I_PASS(complete, flextrace_bracket)
FLEXTRACE_I_RECORD(instant, flextrace_instant, (const char *name, uint64_t correlation), name,
                   correlation)
FLEXTRACE_I_RECORD(counter, flextrace_counter,
                   (int32_t device, const char *name, const char *unit, double value), name, value,
                   unit, device)
FLEXTRACE_I_RECORD(flow, flextrace_flow,
                   (uint32_t phase, const char *name, uint64_t id, uint32_t device, uint32_t queue),
                   phase, device, queue, name, id)
FLEXTRACE_I_RECORD(annotation, flextrace_annotation, (const char *key, const char *value), key,
                   value)
FLEXTRACE_I_RECORD(step, flextrace_step, (uint64_t number), number)
FLEXTRACE_I_RECORD(clock_sync, flextrace_clock_sync,
                   (uint32_t device, uint32_t domain, uint64_t before_ns, uint64_t ticks,
                    uint64_t after_ns),
                   device, domain, before_ns, ticks, after_ns)
FLEXTRACE_I_RECORD(collective, flextrace_collective,
                   (const char *group, uint64_t seq, const char *op, uint64_t bytes,
                    const char *peers, uint32_t phase),
                   group, seq, op, bytes, peers, phase)
FLEXTRACE_I_RECORD(memory, flextrace_memory,
                   (uint32_t device, uint64_t address, uint64_t bytes, uint32_t op), device,
                   address, bytes, op)
FLEXTRACE_I_RECORD(tensor, flextrace_tensor,
                   (uint64_t correlation, uint32_t is_output, const char *dims, const char *layout,
                    const char *dtype, const char *memory),
                   correlation, is_output, dims, layout, dtype, memory)
FLEXTRACE_I_RECORD(op_info, flextrace_op_info,
                   (uint64_t correlation, const char *module, const char *opcode,
                    const char *op_name, const char *frames),
                   correlation, module, opcode, op_name, frames)
#undef FLEXTRACE_I_EDGE
#undef FLEXTRACE_I_RECORD
#undef FLEXTRACE_I_PASS

#define FLEXTRACE_I_SPAN(kind, begin_ns, end_ns, name, correlation, ...)                          \
	do {                                                                                      \
		if (FLEXTRACE_I_ON(span)) {                                                       \
			struct flextrace_args flextrace_i_text;                                   \
			struct flextrace_args *flextrace_i_args =                                 \
				flextrace_i_args_clear(&flextrace_i_text);                        \
			struct flextrace_span flextrace_i_whole = {sizeof(struct flextrace_span), \
			                                           FLEXTRACE_I_U32(kind),         \
			                                           FLEXTRACE_I_U64(begin_ns),     \
			                                           FLEXTRACE_I_U64(end_ns),       \
			                                           name,                          \
			                                           FLEXTRACE_I_U64(correlation),  \
			                                           flextrace_i_args->text,        \
			                                           FLEXTRACE_I_FILE,              \
			                                           __LINE__};                     \
                                                                                                  \
			(__VA_ARGS__);                                                            \
			flextrace_i_span(&flextrace_i_whole);                                     \
		}                                                                                 \
	} while (0)

#define FLEXTRACE_I_END_WITH(handle, ...)                                         \
	do {                                                                      \
		if (FLEXTRACE_I_ON(span)) {                                       \
			struct flextrace_open_scope *flextrace_i_handle = handle; \
			struct flextrace_args flextrace_i_text;                   \
			struct flextrace_args *flextrace_i_args =                 \
				flextrace_i_args_clear(&flextrace_i_text);        \
                                                                                  \
			(__VA_ARGS__);                                            \
			flextrace_i_handle->span.args = flextrace_i_args->text;   \
			flextrace_i_open_end(flextrace_i_handle);                 \
			flextrace_i_handle->span.args = NULL;                     \
		}                                                                 \
	} while (0)

#define FLEXTRACE_I_BRACKET(event, device, queue, job, correlation, name, host_ns)         \
	do {                                                                               \
		if (FLEXTRACE_I_ON(event)) {                                               \
			const struct flextrace_bracket flextrace_i_bracket = {             \
				sizeof(struct flextrace_bracket), FLEXTRACE_I_U32(device), \
				FLEXTRACE_I_U32(queue),           FLEXTRACE_I_U64(job),    \
				FLEXTRACE_I_U64(correlation),     name,                    \
				FLEXTRACE_I_U64(host_ns)};                                 \
			flextrace_i_##event(&flextrace_i_bracket);                         \
		}                                                                          \
	} while (0)

#define FLEXTRACE_I_FLOW(phase, name, id, device, queue)                                           \
	FLEXTRACE_I_EMIT(flow,                                                                     \
	                 flextrace_i_flow(FLEXTRACE_FLOW_PHASE_##phase, name, FLEXTRACE_I_U64(id), \
	                                  FLEXTRACE_I_U32(device), FLEXTRACE_I_U32(queue)))

#define FLEXTRACE_I_MEMORY(device, address, bytes, op)                                         \
	FLEXTRACE_I_EMIT(memory,                                                               \
	                 flextrace_i_memory(FLEXTRACE_I_U32(device), FLEXTRACE_I_U64(address), \
	                                    FLEXTRACE_I_U64(bytes), op))

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
