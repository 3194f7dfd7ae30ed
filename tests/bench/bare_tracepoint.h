/* SPDX-License-Identifier: Apache-2.0 */
/* A bare LTTng tracepoint with the payload of flextrace:scope: what FLEXTRACE_SCOPE is measured
 * against. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bare_tracepoint.h"

#if !defined(BARE_TRACEPOINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BARE_TRACEPOINT_H

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, scope,
	LTTNG_UST_TP_ARGS(uint32_t, kind, uint64_t, begin_ns, const char *, name,
			  uint64_t, correlation, const char *, args, const char *, file,
			  uint32_t, line),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, kind, kind)
		lttng_ust_field_integer(uint64_t, begin_ns, begin_ns)
		lttng_ust_field_string(name, name)
		lttng_ust_field_integer(uint64_t, correlation, correlation)
		lttng_ust_field_string(args, args)
		lttng_ust_field_string(file, file)
		lttng_ust_field_integer(uint32_t, line, line)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
