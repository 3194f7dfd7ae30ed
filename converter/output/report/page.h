/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h: the report page, as assemble.cmake puts it together: what stands before the data of a
 * trace, and what stands behind it. The data is JSON in which `<` is written as \u003c.
 */
#ifndef FLEXTRACE_REPORT_PAGE_H
#define FLEXTRACE_REPORT_PAGE_H

/* Texts of UTF-8. */
extern const char report_page_head[];
extern const char report_page_tail[];

/* The library that draws the page's charts, "dygraphs 2.2.1"; NULL: the page has none. */
extern const char *const report_page_charts;

#endif
