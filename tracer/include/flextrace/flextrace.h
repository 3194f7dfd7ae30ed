/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flextrace.h: the macros and functions that a runtime calls to be traced.
 *
 *	#include <flextrace/flextrace.h>
 *
 *	static void launch(struct graph *graph)
 *	{
 *		FLEXTRACE_CALL(LAUNCH, graph->name);
 *		...
 *		FLEXTRACE_COUNTER("queue depth", graph->n_pending);
 *	}
 *
 * Link every program or shared library that uses it with libflextrace.a (`pkg-config flextrace`,
 * or flextrace::tracer in CMake). Nothing else is needed: neither to compile, nor to link, nor to
 * run. Where LTTng-UST is installed, libflextrace loads the provider when the program starts, and
 * these calls become LTTng events of provider `flextrace`; see flextrace(7) for the environment
 * variables that control it.
 *
 * - A macro whose event is not recorded costs two loads and a branch; its arguments are not
 *   evaluated, nothing is called. Keep side effects out of arguments.
 * - Nothing here fails, prints, takes a lock in the recording path or blocks (unless the LTTng
 *   session is in blocking mode). Records without room in LTTng's buffers are dropped and counted.
 * - Strings are UTF-8 and weak: read during the call (scope: until the end of the scope), never
 *   kept. Definitions (see there) are the exception: they copy. NULL is recorded as "".
 * - Host times are nanoseconds of CLOCK_MONOTONIC as flextrace_now_ns() reads them, 0 = not known.
 * - `correlation` names the host call that caused something, 0 = none. Your own numbers must be
 *   unique in the process and below 2^48; flextrace_next_correlation() gives numbers from there on.
 * - Threads: all of it may be called from any thread at any time, also before main(), in static
 *   constructors, and after fork(); but the child of a process that had other threads when it
 *   forked records nothing until it calls exec (FLEXTRACE_FORK=register changes that).
 * - Signals: in a signal handler call only FLEXTRACE_HANDLER_*, FLEXTRACE_ENABLED,
 *   flextrace_now_ns() and flextrace_drain_save(); other macros may wait there for ever.
 * - With -DFLEXTRACE_CHECK=1, for builds of developers, a scope keeps a copy of its name's first 99
 *   bytes. If the name is another when the scope ends, the program says where, on standard error,
 *   and aborts.
 * - docs/in-your-process.md says what flextrace and LTTng do in a process, and what it must not do.
 * - With -DFLEXTRACE_DISABLE all macros and functions compile to nothing, and libflextrace is not
 *   needed.
 *
 * Contents:
 *   definitions   flextrace_process, _set_dialect, _set_rank, _device, _clock_domain,
 *                 _marker_name, FLEXTRACE_THREAD_NAME, FLEXTRACE_QUEUE_NAME
 *   intervals     FLEXTRACE_SCOPE, _SCOPE_ARGS, _SCOPE_IF, _FUNCTION, _CALL, _CALL_ID,
 *                 _RUNTIME_SCOPE, _RUNTIME_SCOPE_ID, _OP_SCOPE; _SCOPE_AT, _RUNTIME_SCOPE_AT;
 *                 _SCOPE_BEGIN, _RUNTIME_SCOPE_BEGIN, _SCOPE_END; _BEGIN, _END, _ASYNC_BEGIN,
 *                 _ASYNC_END
 *   arguments     FLEXTRACE_ARG, _ARG_BYTES, _ADD_ARG (args.h), in FLEXTRACE_SCOPE_WITH,
 *                 _CALL_WITH, _RUNTIME_SCOPE_WITH, _SCOPE_AT_WITH, _RUNTIME_SCOPE_AT_WITH,
 *                 _SCOPE_END_WITH
 *   points        FLEXTRACE_INSTANT, _INSTANT_ID, _COUNTER, _COUNTER_IN, _DEVICE_COUNTER,
 *                 _ANNOTATE, _STEP, _FLOW_BEGIN, _FLOW_STEP, _FLOW_END
 *   handlers      FLEXTRACE_HANDLER_SCOPE, _INSTANT, _INSTANT_ID, _COUNTER, _BEGIN, _END,
 *                 _ASYNC_BEGIN, _ASYNC_END, _COMPLETE, _DEVICE_OP; flextrace_thread_init
 *   device work   FLEXTRACE_DEVICE_OP, _SUBMIT, _SUBMIT_AT, _COMPLETE, _COMPLETE_AT,
 *                 _HOST_ESTIMATE, _CLOCK_SYNC, _QUEUE_RECORD, _QUEUE_WAIT
 *   runtime       FLEXTRACE_COLLECTIVE_ENTER, _EXIT, FLEXTRACE_MEMORY_ALLOC, _FREE, _RESIZE
 *   framework     FLEXTRACE_TENSOR, FLEXTRACE_OP_INFO
 *   windows       flextrace_window_begin, _window_end
 *   markers       flextrace_drain, flextrace_device_names (drain.h)
 *   services      flextrace_now_ns, _next_correlation(s), _device_mode, _n_unrecorded,
 *                 FLEXTRACE_ENABLED
 *
 * Payload structs, kinds and units stand in events.h. C99 and C++11; gcc and clang. flextrace.hpp
 * has all of it for C++17.
 */
#ifndef FLEXTRACE_FLEXTRACE_H
#define FLEXTRACE_FLEXTRACE_H

#include <flextrace/args.h>
#include <flextrace/drain.h>
#include <flextrace/events.h>
#include <flextrace/flextrace_impl.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

/* -- definitions -------------------------------------------------------------------------------
 *
 * Who and what the records are about. Call them whenever the fact is known, once. They are kept
 * (strings are copied) and recorded for every LTTng session that is active or starts later, so
 * they cost nothing to call early. Defining the same thing again replaces it.
 */

/*
 * Names the instrumented runtime and its version, such as "flex", "2.1". Optional: the process is
 * recorded without it too. Rank and world size are taken from the environment (see flextrace(7)).
 */
void flextrace_define_process(const char *runtime, const char *version);
#define flextrace_process(runtime, version) flextrace_define_process(runtime, version)

/*
 * Chooses whose names the kinds of this process's records have in what is shown of them: "aiu",
 * "cuda", "tt-metal" or "neutral", which holds for who does not choose. Changes no record.
 */
void flextrace_set_dialect(const char *dialect);

/*
 * Sets the rank if the environment does not tell it. It may be called late: it holds for all
 * records of the process, the earlier ones too. `world_size` 0 = unknown.
 */
void flextrace_set_rank(int rank, int world_size);

/* Defines device `device->device` of this process; begin with FLEXTRACE_DEVICE_INIT. */
void flextrace_define_device(const struct flextrace_device *device);
#define flextrace_device(device) flextrace_define_device(device)

/* Defines a clock domain: a counter of a device that `ts`, markers and clock syncs refer to; begin
 * with FLEXTRACE_CLOCK_DOMAIN_INIT. */
void flextrace_define_clock_domain(const struct flextrace_clock_domain *domain);
#define flextrace_clock_domain(domain) flextrace_define_clock_domain(domain)

/* Names a marker id of a device's firmware (FLEXTRACE_NAME_INIT): FLEXTRACE_MARKER_ID(number) of a
 * number known at run time. flextrace_device_names() does it for the names in an ELF file. */
void flextrace_marker_name(const struct flextrace_name *marker);

/* Names the calling thread: FLEXTRACE_THREAD_NAME("scheduler"); */
#define FLEXTRACE_THREAD_NAME(name) FLEXTRACE_I_CALL(flextrace_i_thread_name(name))

/* Names a queue (stream) of a device. */
#define FLEXTRACE_QUEUE_NAME(device, queue, name) \
	FLEXTRACE_I_CALL(                         \
		flextrace_i_queue_name(FLEXTRACE_I_U32(device), FLEXTRACE_I_U32(queue), name))

/* -- intervals -----------------------------------------------------------------------------------
 *
 * A scope lasts to the end of the block it stands in and becomes ONE record, at its end. It is
 * recorded only if the event was on at both ends. Do not jump over one with goto or a case label.
 * One that longjmp() leaves is not recorded; one that pthread_exit() or a cancellation leaves is,
 * in C++, and in C with -fexceptions.
 */

/* An interval of the user's own: FLEXTRACE_SCOPE("load weights"); */
#define FLEXTRACE_SCOPE(name) FLEXTRACE_I_SCOPE(FLEXTRACE_RUNTIME_USER, name, 0)

/*
 * The same with a printf-formatted string of arguments, cut to FLEXTRACE_ARGS_BYTES - 1 bytes:
 * FLEXTRACE_SCOPE_ARGS("read", "%s bytes=%zu", path, n); Formatted when the scope begins.
 */
#define FLEXTRACE_SCOPE_ARGS(name, ...) FLEXTRACE_I_SCOPE_ARGS(name, __VA_ARGS__)

/*
 * The same with arguments of types, one or more (args.h), which keep what they are in every viewer:
 * FLEXTRACE_SCOPE_WITH("copy", FLEXTRACE_ARG("bytes", n), FLEXTRACE_ARG("tensor", t->name));
 * Evaluated when the scope begins. Key "category" says of which category the scope is.
 */
#define FLEXTRACE_SCOPE_WITH(name, ...) \
	FLEXTRACE_I_SCOPE_WITH(FLEXTRACE_RUNTIME_USER, name, 0, __VA_ARGS__)
#define FLEXTRACE_CALL_WITH(what, name, correlation, ...) \
	FLEXTRACE_RUNTIME_SCOPE_WITH(FLEXTRACE_RUNTIME_##what, name, correlation, __VA_ARGS__)
#define FLEXTRACE_RUNTIME_SCOPE_WITH(kind, name, correlation, ...) \
	FLEXTRACE_I_SCOPE_WITH(kind, name, correlation, __VA_ARGS__)

/*
 * A call of the runtime, by what it does: FLEXTRACE_CALL(WAIT, "fence"); is of the kind
 * FLEXTRACE_RUNTIME_WAIT. With _ID, the number that joins it to what it causes (device work, other
 * scopes).
 */
#define FLEXTRACE_CALL(what, name) FLEXTRACE_CALL_ID(what, name, 0)
#define FLEXTRACE_CALL_ID(what, name, correlation) \
	FLEXTRACE_I_SCOPE(FLEXTRACE_RUNTIME_##what, name, correlation)

/* The same of a FLEXTRACE_RUNTIME_* kind that is computed. */
#define FLEXTRACE_RUNTIME_SCOPE(kind, name) FLEXTRACE_I_SCOPE(kind, name, 0)

#define FLEXTRACE_RUNTIME_SCOPE_ID(kind, name, correlation) \
	FLEXTRACE_I_SCOPE(kind, name, correlation)

/* A scope of a function's body, by its name: FLEXTRACE_FUNCTION(); */
#define FLEXTRACE_FUNCTION() FLEXTRACE_SCOPE(__func__)

/* A scope only where `condition` holds: FLEXTRACE_SCOPE_IF(n > 4096, "long copy"); */
#define FLEXTRACE_SCOPE_IF(condition, name) \
	FLEXTRACE_I_SCOPE_IF(condition, FLEXTRACE_RUNTIME_USER, name)

/*
 * An interval that is over, by its times: for what was timed already, and for functions that would
 * have to be split. One that ends before it begins is counted, not shown.
 */
#define FLEXTRACE_SCOPE_AT(begin_ns, end_ns, name) \
	FLEXTRACE_RUNTIME_SCOPE_AT(FLEXTRACE_RUNTIME_USER, begin_ns, end_ns, name, 0)
#define FLEXTRACE_RUNTIME_SCOPE_AT(kind, begin_ns, end_ns, name, correlation) \
	FLEXTRACE_I_SPAN(kind, begin_ns, end_ns, name, correlation, (void)0)
/* The same with arguments. */
#define FLEXTRACE_SCOPE_AT_WITH(begin_ns, end_ns, name, ...) \
	FLEXTRACE_I_SPAN(FLEXTRACE_RUNTIME_USER, begin_ns, end_ns, name, 0, __VA_ARGS__)
#define FLEXTRACE_RUNTIME_SCOPE_AT_WITH(kind, begin_ns, end_ns, name, correlation, ...) \
	FLEXTRACE_I_SPAN(kind, begin_ns, end_ns, name, correlation, __VA_ARGS__)

/*
 * A scope by a handle: BEGIN returns a struct flextrace_open_scope (a value, to be kept anywhere),
 * END takes it, on any thread, once. `name` is read at the end. It is on its thread's line, or on
 * lines of its own if it ends on another thread.
 */
#define FLEXTRACE_SCOPE_BEGIN(name) FLEXTRACE_RUNTIME_SCOPE_BEGIN(FLEXTRACE_RUNTIME_USER, name, 0)
#define FLEXTRACE_RUNTIME_SCOPE_BEGIN(kind, name, correlation)                   \
	flextrace_i_open(FLEXTRACE_I_ON(span) != 0, FLEXTRACE_I_U32(kind), name, \
	                 FLEXTRACE_I_U64(correlation), FLEXTRACE_I_FILE, __LINE__)
#define FLEXTRACE_SCOPE_END(handle)           FLEXTRACE_I_EMIT(span, flextrace_i_open_end(handle))
/* The same with arguments, which are known now. */
#define FLEXTRACE_SCOPE_END_WITH(handle, ...) FLEXTRACE_I_END_WITH(handle, __VA_ARGS__)

/*
 * A framework operation, such as an aten op: records its type, attributes (free text), the cores
 * it was given and its depth in the graph now, and its interval at the end of the block.
 */
#define FLEXTRACE_OP_SCOPE(name, type, attributes, n_cores, depth, correlation) \
	FLEXTRACE_I_OP_SCOPE(name, type, attributes, n_cores, depth, correlation)

/*
 * An interval as two records, for phases that must be seen even if the program dies in them. Must
 * nest on its thread; END names the same kind, name and correlation as BEGIN.
 */
#define FLEXTRACE_BEGIN(kind, name, correlation)                               \
	FLEXTRACE_I_EMIT(begin, flextrace_i_begin(FLEXTRACE_I_U32(kind), name, \
	                                          FLEXTRACE_I_U64(correlation)))
#define FLEXTRACE_END(kind, name, correlation) \
	FLEXTRACE_I_EMIT(                      \
		end, flextrace_i_end(FLEXTRACE_I_U32(kind), name, FLEXTRACE_I_U64(correlation)))

/* An interval that may cross others and change threads; (name, id) pairs its ends. */
#define FLEXTRACE_ASYNC_BEGIN(name, id) \
	FLEXTRACE_I_EMIT(async_begin, flextrace_i_async_begin(0, name, FLEXTRACE_I_U64(id)))
#define FLEXTRACE_ASYNC_END(name, id) \
	FLEXTRACE_I_EMIT(async_end, flextrace_i_async_end(0, name, FLEXTRACE_I_U64(id)))

/* -- points -- */

#define FLEXTRACE_INSTANT(name) FLEXTRACE_INSTANT_ID(name, 0)
#define FLEXTRACE_INSTANT_ID(name, correlation) \
	FLEXTRACE_I_EMIT(instant, flextrace_i_instant(name, FLEXTRACE_I_U64(correlation)))

/* A sample of a number: FLEXTRACE_COUNTER("queue depth", n); with its unit:
 * FLEXTRACE_COUNTER_IN("in flight", "bytes", n); of a device: FLEXTRACE_DEVICE_COUNTER(0, "power",
 * "W", 74.5); */
#define FLEXTRACE_COUNTER(name, value)          FLEXTRACE_COUNTER_IN(name, "", value)
#define FLEXTRACE_COUNTER_IN(name, unit, value) FLEXTRACE_DEVICE_COUNTER(-1, name, unit, value)
#define FLEXTRACE_DEVICE_COUNTER(device, name, unit, value)                                    \
	FLEXTRACE_I_EMIT(counter, flextrace_i_counter(FLEXTRACE_I_CAST(int32_t, device), name, \
	                                              unit, FLEXTRACE_I_CAST(double, value)))

/*
 * A flow: an arrow from each of its points to the next one, on any thread of the process, by an id
 * of your own: FLEXTRACE_FLOW_BEGIN("request", r->id); Ids may be used again after END.
 */
#define FLEXTRACE_FLOW_BEGIN(name, id) FLEXTRACE_I_FLOW(BEGIN, name, id, 0, 0)
#define FLEXTRACE_FLOW_STEP(name, id)  FLEXTRACE_I_FLOW(STEP, name, id, 0, 0)
#define FLEXTRACE_FLOW_END(name, id)   FLEXTRACE_I_FLOW(END, name, id, 0, 0)

/* A fact about the run, as text: FLEXTRACE_ANNOTATE("model", "granite-3b"); */
#define FLEXTRACE_ANNOTATE(key, value) \
	FLEXTRACE_I_EMIT(annotation, flextrace_i_annotation(key, value))

/* Begins step n of the workload (iteration, token); FLEXTRACE_SCHEDULE counts these. */
#define FLEXTRACE_STEP(n) FLEXTRACE_I_EMIT(step, flextrace_i_step(FLEXTRACE_I_U64(n)))

/* -- signal handlers ---------------------------------------------------------------------------
 *
 * The same for signal handlers: these macros call nothing that a handler must not call. In threads
 * that are ready (flextrace_thread_init()) they record. In others the record is only counted
 * (flextrace_n_unrecorded()), and the arguments are not evaluated.
 */
#define FLEXTRACE_HANDLER_SCOPE(name)   FLEXTRACE_I_HANDLER_SCOPE(FLEXTRACE_RUNTIME_USER, name, 0)
#define FLEXTRACE_HANDLER_INSTANT(name) FLEXTRACE_HANDLER_INSTANT_ID(name, 0)
#define FLEXTRACE_HANDLER_INSTANT_ID(name, correlation) \
	FLEXTRACE_I_HANDLER(instant, FLEXTRACE_INSTANT_ID(name, correlation))
#define FLEXTRACE_HANDLER_COUNTER(name, value) \
	FLEXTRACE_I_HANDLER(counter, FLEXTRACE_COUNTER(name, value))
#define FLEXTRACE_HANDLER_BEGIN(kind, name, correlation) \
	FLEXTRACE_I_HANDLER(begin, FLEXTRACE_BEGIN(kind, name, correlation))
#define FLEXTRACE_HANDLER_END(kind, name, correlation) \
	FLEXTRACE_I_HANDLER(end, FLEXTRACE_END(kind, name, correlation))
#define FLEXTRACE_HANDLER_ASYNC_BEGIN(name, id) \
	FLEXTRACE_I_HANDLER(async_begin, FLEXTRACE_ASYNC_BEGIN(name, id))
#define FLEXTRACE_HANDLER_ASYNC_END(name, id) \
	FLEXTRACE_I_HANDLER(async_end, FLEXTRACE_ASYNC_END(name, id))
#define FLEXTRACE_HANDLER_COMPLETE(device, queue, job, correlation, name) \
	FLEXTRACE_I_HANDLER(complete, FLEXTRACE_COMPLETE(device, queue, job, correlation, name))
#define FLEXTRACE_HANDLER_DEVICE_OP(op) FLEXTRACE_I_HANDLER(device_op, FLEXTRACE_DEVICE_OP(op))

/* -- device work -- */

/*
 * One finished control block: `op` points to a filled struct flextrace_device_op, which begins as
 * FLEXTRACE_DEVICE_OP_INIT. Take submit_ns before the doorbell, complete_ns after the completion
 * was seen.
 */
#define FLEXTRACE_DEVICE_OP(op) FLEXTRACE_I_EMIT(device_op, flextrace_i_device_op(op))

/*
 * The same bracket as two records, for work in flight at a crash and for runtimes that cannot keep
 * the stamp. SUBMIT stands before the doorbell, COMPLETE after the completion was seen; they read
 * the clock. The _AT forms take the time, for a runtime that records FLEXTRACE_DEVICE_OP as well:
 * give both the same one.
 */
#define FLEXTRACE_SUBMIT(device, queue, job, correlation, name) \
	FLEXTRACE_SUBMIT_AT(device, queue, job, correlation, name, flextrace_now_ns())
#define FLEXTRACE_COMPLETE(device, queue, job, correlation, name) \
	FLEXTRACE_COMPLETE_AT(device, queue, job, correlation, name, flextrace_now_ns())
#define FLEXTRACE_SUBMIT_AT(device, queue, job, correlation, name, host_ns) \
	FLEXTRACE_I_BRACKET(submit, device, queue, job, correlation, name, host_ns)
#define FLEXTRACE_COMPLETE_AT(device, queue, job, correlation, name, host_ns) \
	FLEXTRACE_I_BRACKET(complete, device, queue, job, correlation, name, host_ns)

/* A host time that some other tool estimated: points to a struct flextrace_host_estimate. */
#define FLEXTRACE_HOST_ESTIMATE(estimate) \
	FLEXTRACE_I_EMIT(host_estimate, flextrace_i_host_estimate(estimate))

/*
 * A read of a device counter, `ticks` with all its bits, between two reads of the host clock. The
 * shorter the bracket the better the calibration; a few a second are plenty.
 */
#define FLEXTRACE_CLOCK_SYNC(device, domain, host_before_ns, ticks, host_after_ns)                \
	FLEXTRACE_I_EMIT(clock_sync,                                                              \
	                 flextrace_i_clock_sync(FLEXTRACE_I_U32(device), FLEXTRACE_I_U32(domain), \
	                                        FLEXTRACE_I_U64(host_before_ns),                  \
	                                        FLEXTRACE_I_U64(ticks),                           \
	                                        FLEXTRACE_I_U64(host_after_ns)))

/*
 * Events of queues (streams): RECORD stands where the runtime has a queue record event `id` behind
 * the work submitted so far, WAIT where it has one wait for the newest RECORD of that id. An arrow
 * leads from the last work in front of the one to the first work behind the other.
 */
#define FLEXTRACE_QUEUE_RECORD(device, queue, id) \
	FLEXTRACE_I_FLOW(RECORD, "record", id, device, queue)
#define FLEXTRACE_QUEUE_WAIT(device, queue, id) FLEXTRACE_I_FLOW(WAIT, "wait", id, device, queue)

/* -- runtime -- */

/*
 * A synchronisation point between ranks: operation number `seq` of `group`, `op` such as
 * "all_reduce", "barrier", "send", `peers` the other ranks ("1,2", "" = the whole group). ENTER
 * stands before the call, EXIT behind it, with the same arguments. These align the ranks' clocks.
 */
#define FLEXTRACE_COLLECTIVE_ENTER(group, seq, op, bytes, peers)                             \
	FLEXTRACE_I_EMIT(collective, flextrace_i_collective(group, FLEXTRACE_I_U64(seq), op, \
	                                                    FLEXTRACE_I_U64(bytes), peers,   \
	                                                    FLEXTRACE_PHASE_ENTER))
#define FLEXTRACE_COLLECTIVE_EXIT(group, seq, op, bytes, peers)                              \
	FLEXTRACE_I_EMIT(collective, flextrace_i_collective(group, FLEXTRACE_I_U64(seq), op, \
	                                                    FLEXTRACE_I_U64(bytes), peers,   \
	                                                    FLEXTRACE_PHASE_EXIT))

/* Device memory: `address` is the device's, an integer. RESIZE gives the new size. */
#define FLEXTRACE_MEMORY_ALLOC(device, address, bytes) \
	FLEXTRACE_I_MEMORY(device, address, bytes, FLEXTRACE_MEMORY_ALLOC)
#define FLEXTRACE_MEMORY_FREE(device, address, bytes) \
	FLEXTRACE_I_MEMORY(device, address, bytes, FLEXTRACE_MEMORY_FREE)
#define FLEXTRACE_MEMORY_RESIZE(device, address, bytes) \
	FLEXTRACE_I_MEMORY(device, address, bytes, FLEXTRACE_MEMORY_RESIZE)

/* -- framework -- */

/* A tensor of operation `correlation`: FLEXTRACE_TENSOR(id, 0, "2x3", "tiled", "fp16", "HBM");
 * with padding "32[2]x32[3]", the logical sizes in brackets. */
#define FLEXTRACE_TENSOR(correlation, is_output, dims, layout, dtype, memory)                 \
	FLEXTRACE_I_EMIT(tensor, flextrace_i_tensor(FLEXTRACE_I_U64(correlation),             \
	                                            FLEXTRACE_I_U32(is_output), dims, layout, \
	                                            dtype, memory))

/* Where operation `correlation` comes from; `frames` are source frames, one a line. */
#define FLEXTRACE_OP_INFO(correlation, module, opcode, op_name, frames)                     \
	FLEXTRACE_I_EMIT(op_info, flextrace_i_op_info(FLEXTRACE_I_U64(correlation), module, \
	                                              opcode, op_name, frames))

/* -- windows --------------------------------------------------------------------------------------
 *
 * A measured window that the program opens itself. With FLEXTRACE_WINDOWS_ONLY=1 in the environment
 * nothing but definitions is recorded outside windows. Windows nest and may overlap; recording ends
 * with the last. They are per process, whichever thread or library opened them.
 */
void flextrace_window_begin(const char *name);
void flextrace_window_end(const char *name);

/* -- services -- */

/*
 * 1 while an event of events.h is recorded, for work that only tracing needs:
 * if (FLEXTRACE_ENABLED(device_op)) fill(&op);
 */
#define FLEXTRACE_ENABLED(event) FLEXTRACE_I_ON(event)

/* The host clock of all records: CLOCK_MONOTONIC in ns. Works under FLEXTRACE_DISABLE too. */
static inline uint64_t flextrace_now_ns(void)
{
	return flextrace_i_now_ns();
}

/* A correlation number that nobody else in this process has, from 2^48 up; 0 if disabled. */
#define flextrace_next_correlation() flextrace_next_correlations(1)

/* The first of `n` such numbers, one behind the other, for a batch that is launched at once. */
uint64_t flextrace_next_correlations(uint32_t n);

/* What the user wants of the device (FLEXTRACE_DEVICE=off|drain|sync); OFF if disabled. */
enum flextrace_device_mode {
	FLEXTRACE_DEVICE_MODE_OFF = 0,   /* no device records, markers not read */
	FLEXTRACE_DEVICE_MODE_DRAIN = 1, /* markers read when the runtime calls flextrace_drain() */
	FLEXTRACE_DEVICE_MODE_SYNC = 2 /* the same, and the runtime drains after each completion */
};
enum flextrace_device_mode flextrace_device_mode(void);

/*
 * Makes the calling thread ready to record in signal handlers (FLEXTRACE_HANDLER_*). The thread
 * that starts the program is ready. Call it again behind dlopen() of libraries that have
 * thread-local memory. Not to be called in a handler.
 */
void flextrace_thread_init(void);

/*
 * The number of records that this process (and its parent before the fork) left out since it
 * started: those of handlers in threads that are not ready, those of children that are not
 * registered with LTTng, and those made before flextrace could start. 0 if disabled.
 */
uint64_t flextrace_n_unrecorded(void);

/* Records raw marker words; flextrace_drain() is the caller. */
void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifdef FLEXTRACE_DISABLE
#include <flextrace/flextrace_disable.h>
#endif

#endif
