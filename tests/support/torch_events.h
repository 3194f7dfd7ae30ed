/* SPDX-License-Identifier: Apache-2.0 */
/* torch_events.h: events of the torch profiler as literals, for tests of their reader. */
#ifndef FLEXTRACE_TORCH_EVENTS_H
#define FLEXTRACE_TORCH_EVENTS_H

#define X(cat, name, place, times, args)                                           \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\"," place "," times \
	",\"args\":{" args "}}"
#define HOST                "\"pid\":500,\"tid\":501"
#define DEVICE              "\"pid\":3,\"tid\":7"
#define AT(ts, dur)         "\"ts\":" #ts ",\"dur\":" #dur
#define FILE_OF(head, list) "{\"schemaVersion\":1," head "\"traceEvents\":[" list "]}"

#endif
