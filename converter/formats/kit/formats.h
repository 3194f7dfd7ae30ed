/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h: the one list of the formats that are no Chrome Trace Events, in the order in which
 * they are asked whether a path is theirs: the first that knows it has it.
 *
 * X(reader, dialect, name): `const struct import_format import_<reader>` (format.h),
 * `IMPORT_<dialect>` (kit/dialect.h), and what --as calls it.
 */
#ifndef FLEXTRACE_IMPORT_FORMATS_H
#define FLEXTRACE_IMPORT_FORMATS_H

/* clang-format off */
#define IMPORT_FORMATS(X)                                                              \
	X(marker_areas, MARKER_AREA, "marker-area") /* copies of firmware's memory */  \
	X(nsys, NSYS, "nsys-sqlite")                /* reports of Nsight Systems */      \
	X(tt_csv, TT_CSV, "tt-csv")                 /* tt-metal's device log */        \
	X(xplane, XPLANE, "xplane")                 /* profiles of JAX and XLA */      \
	X(perfetto, PERFETTO, "perfetto")           /* traces of Perfetto */            \
	X(table, TABLE, "table")                    /* CSV with a row for each interval */ \
	X(aie, AIE, "aie-json")                     /* JSON and raw words of AMD's AI engines */
/* clang-format on */

#endif
