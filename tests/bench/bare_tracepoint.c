/* SPDX-License-Identifier: Apache-2.0 */
#define _LGPL_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bare_tracepoint.h"
