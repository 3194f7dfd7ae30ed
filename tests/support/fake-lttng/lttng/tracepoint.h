/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for LTTng's header, which makes of tracepoints what they declare: of each event
 * an array `tracepoint_NAME` of its fields, ended by one without a name, and in the second
 * reading a row of `tracepoints` for it.
 */
#ifndef FLEXTRACE_TESTS_FAKE_LTTNG_H
#define FLEXTRACE_TESTS_FAKE_LTTNG_H

struct tracepoint_field {
	const char *type, *name; /* "uint32_t"; NULL: the end */
};

#define lttng_ust_field_integer(TYPE, NAME, ...)  {#TYPE, #NAME},
#define lttng_ust_field_float(TYPE, NAME, ...)    {#TYPE, #NAME},
#define lttng_ust_field_string(NAME, ...)         {"string", #NAME},
#define lttng_ust_field_array(TYPE, NAME, ...)    {#TYPE "[]", #NAME},
#define lttng_ust_field_sequence(TYPE, NAME, ...) {#TYPE "...", #NAME},

#define LTTNG_UST_TP_ARGS(...)
#define LTTNG_UST_TP_FIELDS(...) __VA_ARGS__

#define LTTNG_UST_TRACEPOINT_EVENT(PROVIDER, NAME, ARGS, ...) \
	static const struct tracepoint_field tracepoint_##NAME[] = {__VA_ARGS__{0, 0}};

#endif
