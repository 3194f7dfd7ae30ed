/* SPDX-License-Identifier: Apache-2.0 */
/* The second reading: a row of each event. */
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#undef U32
#undef I32
#undef U64
#undef STRING
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(...)
#define LTTNG_UST_TRACEPOINT_EVENT(PROVIDER, NAME, ...) {#PROVIDER ":" #NAME, tracepoint_##NAME},
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(PROVIDER, CLASS, PROVIDER_TOO, NAME, ...) \
	{#PROVIDER_TOO ":" #NAME, tracepoint_##CLASS},

static const struct {
	const char *name;
	const struct tracepoint_field *fields;
} tracepoints[] = {
#include LTTNG_UST_TRACEPOINT_INCLUDE
};
#endif
