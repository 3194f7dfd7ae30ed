/* SPDX-License-Identifier: Apache-2.0 */
/* The second reading: a row of each event. */
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#undef LTTNG_UST_TRACEPOINT_EVENT
#define LTTNG_UST_TRACEPOINT_EVENT(PROVIDER, NAME, ...) {#PROVIDER ":" #NAME, tracepoint_##NAME},

static const struct {
	const char *name;
	const struct tracepoint_field *fields;
} tracepoints[] = {
#include LTTNG_UST_TRACEPOINT_INCLUDE
};
#endif
