// SPDX-License-Identifier: Apache-2.0
#include "page.h"

/* Takes a file as it is into the program, with a zero behind it. Some processors can only address
 * what is even. */
#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n\t.balign 16\n\t.globl " name "\n\t.hidden " name "\n" name \
	        ":\n\t.incbin \"" file "\"\n\t.byte 0\n\t.popsection")

EMBED("report_page_head", FLEXTRACE_PAGE_HEAD);
EMBED("report_page_tail", FLEXTRACE_PAGE_TAIL);

#ifdef FLEXTRACE_PAGE_CHARTS
const char *const report_page_charts = FLEXTRACE_PAGE_CHARTS;
#else
const char *const report_page_charts = NULL;
#endif
