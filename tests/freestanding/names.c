/* SPDX-License-Identifier: Apache-2.0 */
/* Names with characters that mean something to compilers or assemblers. */
#include <flextrace/marker.h>

void _start(void);
void mark(int which);

void mark(int which)
{
	/* Equal but for the names: what stands behind these may be shared. */
	if (which)
		FLEXTRACE_MARK("{init}");
	else
		FLEXTRACE_MARK("{a|b}");
	FLEXTRACE_MARK("a|b");
	FLEXTRACE_MARK("}{ {{nested}");
	FLEXTRACE_MARK("%=");
	FLEXTRACE_MARK("$0 ${1} $$ #a ;b //c /*d*/ @e");
}

void _start(void)
{
	FLEXTRACE_FW_INIT(0, 0, 0, 16, FLEXTRACE_WIRE_STOP);
	mark(0);
	mark(1);
}
