// SPDX-License-Identifier: Apache-2.0
// A program that types markers where C++ allows it, in two files, and looks whether their ids lead
// to their names. ELSEWHERE: the second file.
#include "markers.hpp"

#ifdef ELSEWHERE
void mark_elsewhere()
{
	mark_inline();
	mark_template(2);
	FLEXTRACE_MARK("elsewhere");
}
#else
#include <stdio.h>
#include <string.h>

static union {
	flextrace_wire_area wire;
	unsigned char bytes[FLEXTRACE_WIRE_AREA_BYTES(32)];
} own, handler;

static void mark_all()
{
	auto lambda = [] { FLEXTRACE_MARK("lambda"); };

	mark_inline();
	mark_template(1);
	mark_template(2.0);
	{
		guarded zone;
		guarded::value();
	}
	lambda();
	FLEXTRACE_MARK("ordinary");
	mark_elsewhere();
}

static void mark_all_in(flextrace_wire_area *area)
{
	FLEXTRACE_FW_START_IN(area, 7, 1);
	FLEXTRACE_TS_IN(area, 1);
	FLEXTRACE_KERNEL_START_IN(area);
	FLEXTRACE_ZONE_BEGIN_IN(area, "zone");
	FLEXTRACE_VALUE_IN(area, "value", 5);
	FLEXTRACE_MARK_IN(area, "mark");
	FLEXTRACE_ZONE_END_IN(area, "zone");
	FLEXTRACE_ZONE_BEGIN_ID_IN(area, 5);
	FLEXTRACE_VALUE_ID_IN(area, 5, 5);
	FLEXTRACE_MARK_ID_IN(area, 5);
	FLEXTRACE_ZONE_END_ID_IN(area, 5);
	FLEXTRACE_KERNEL_END_IN(area);
	FLEXTRACE_FW_END_IN(area);
}

static int check(const flextrace_wire_area *area, const char *const *names)
{
	uint32_t n = 0;

	for (; names[n] && n < area->head; n++) {
		const char *name = flextrace_posix_names +
		                   (area->ring[n].kind_id & FLEXTRACE_WIRE_ID_MASK);

		if (*names[n] && strcmp(name, names[n]) != 0) {
			printf("record %u is %s, not %s\n", n, name, names[n]);
			return 1;
		}
	}
	if (names[n] || n != area->head)
		printf("there are %u records\n", area->head);
	return names[n] || n != area->head;
}

int main()
{
	static const char *const names[] = {
		"inline",   "template",      "template", "guarded {a|b}", "static",
		"static",   "guarded {a|b}", "lambda",   "ordinary",      "inline",
		"template", "elsewhere",     nullptr};
	static const char *const names_in[] = {"", "zone", "value", "value", "mark", "zone",
	                                       "", "",     "",      "",      "",     nullptr};

	flextrace_posix_core.area = &own.wire;
	FLEXTRACE_FW_INIT(0, 0, 0, 32, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_INIT_IN(&handler.wire, 0, 1, 0, 32, FLEXTRACE_WIRE_STOP);
	mark_all();
	mark_all_in(&handler.wire);
	return check(&own.wire, names) || check(&handler.wire, names_in);
}
#endif
