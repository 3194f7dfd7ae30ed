/* SPDX-License-Identifier: Apache-2.0 */
/* markers.hpp: markers where C++ has one of something for all files that include it. */
#ifndef MARKERS_HPP
#define MARKERS_HPP

#include <flextrace/marker.h>

inline void mark_inline()
{
	FLEXTRACE_MARK("inline");
}

template <class T> void mark_template(T)
{
	FLEXTRACE_MARK("template");
}

struct guarded {
	guarded()
	{
		FLEXTRACE_ZONE_BEGIN("guarded {a|b}");
	}
	~guarded()
	{
		FLEXTRACE_ZONE_END("guarded {a|b}");
	}
	static void value()
	{
		FLEXTRACE_VALUE("static", 3);
	}
};

void mark_elsewhere();

#endif
