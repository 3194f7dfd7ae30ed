/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "tracer.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "definitions.h"
#include "process.h"

static enum flextrace_device_mode device_mode = FLEXTRACE_DEVICE_MODE_DRAIN;

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* -- the provider -- */

#define BIT(event) (UINT64_C(1) << flextrace_i_event_##event)
#define DEVICE_EVENTS                                                                            \
	(BIT(device_op) | BIT(submit) | BIT(complete) | BIT(host_estimate) | BIT(marker_batch) | \
	 BIT(clock_sync))

static void dump(void)
{
	flextrace_i_process_emit();
	flextrace_i_definitions_emit();
}

static void forked(void)
{
	flextrace_i_process_forked();
	flextrace_i_definitions_forked(own_tid());
}

static struct flextrace_i_client client = {sizeof(struct flextrace_i_client),
                                           flextrace_i_state,
                                           flextrace_i_n_events,
                                           0,
                                           dump,
                                           forked,
                                           NULL};

void flextrace_i_tracer_init(const struct environment *env)
{
	device_mode = env->device;
	client.off = env->device == FLEXTRACE_DEVICE_MODE_OFF ? DEVICE_EVENTS : 0;
	flextrace_i_process_init(env->rank, env->world_size, env->session);
}

void flextrace_i_tracer_attach(const struct flextrace_i_api *api)
{
	flextrace_i_process_share(api->identity);
	__atomic_store_n(&flextrace_i_api, api, __ATOMIC_RELEASE);
	api->attach(&client); /* from here on the state words are LTTng's */
	dump();
}

void flextrace_i_tracer_detach(void)
{
	const struct flextrace_i_api *api = __atomic_load_n(&flextrace_i_api, __ATOMIC_ACQUIRE);

	if (api)
		api->detach(&client);
}

/* -- functions of flextrace.h -- */

void flextrace_marker_name(const struct flextrace_name *marker)
{
	flextrace_i_definitions_add_name(flextrace_i_event_marker_name, marker);
}

void flextrace_i_thread_name(const char *name)
{
	const struct flextrace_name thread = {sizeof(thread), 0, own_tid(), name, NULL, 0};

	flextrace_i_definitions_add_name(flextrace_i_event_thread_name, &thread);
}

void flextrace_i_queue_name(uint32_t device, uint32_t queue, const char *name)
{
	const struct flextrace_name named = {sizeof(named), device, queue, name, NULL, 0};

	flextrace_i_definitions_add_name(flextrace_i_event_queue_name, &named);
}

static void window(enum flextrace_edge edge, const char *name)
{
	const struct flextrace_window payload = {sizeof(payload), (uint32_t)edge, name};

	FLEXTRACE_I_SEND(window, &payload);
}

void flextrace_window_begin(const char *name)
{
	window(FLEXTRACE_EDGE_BEGIN, name);
}

void flextrace_window_end(const char *name)
{
	window(FLEXTRACE_EDGE_END, name);
}

enum flextrace_device_mode flextrace_device_mode(void)
{
	return device_mode;
}

void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch)
{
	if (flextrace_i_is_on(flextrace_i_event_marker_batch))
		FLEXTRACE_I_SEND(marker_batch, batch);
}

void flextrace_i_args_begin(struct flextrace_i_args_scope *args, const char *name, const char *file,
                            uint32_t line, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (vsnprintf(args->args, sizeof(args->args), format, values) < 0)
		args->args[0] = '\0';
	va_end(values);
	flextrace_i_scope_begin(&args->scope, FLEXTRACE_RUNTIME_USER, name,
	                        flextrace_next_correlation(), file, line);
}

void flextrace_i_args_end(struct flextrace_i_args_scope *args)
{
	const struct flextrace_scope_args payload = {sizeof(payload), args->scope.correlation,
	                                             args->args};

	if (!flextrace_i_is_on(flextrace_i_event_scope))
		return;
	if (flextrace_i_is_on(flextrace_i_event_scope_args))
		FLEXTRACE_I_SEND(scope_args, &payload);
	FLEXTRACE_I_SEND(scope, &args->scope);
}
