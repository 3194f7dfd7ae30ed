# SPDX-License-Identifier: Apache-2.0
# Tests of converter/emit: each links only the sources it names.

set(emit_writer converter/emit/writer.c converter/emit/writer_text.c converter/error.c)

flextrace_add_unit_test(NAME writer SOURCES ${emit_writer} tests/scratch.c
	LIBS PkgConfig::CJSON ZLIB::ZLIB m)
