# SPDX-License-Identifier: Apache-2.0
# Tests of the converter's core: each links only the sources it names.

flextrace_add_unit_test(NAME strings SOURCES converter/strings.c LIBS Threads::Threads)
flextrace_add_unit_test(NAME table SOURCES converter/table.c)
flextrace_add_unit_test(NAME ledger SOURCES converter/ledger.c)
flextrace_add_unit_test(NAME schema SOURCES converter/decode/schema.c converter/ledger.c)

set(converter_text_source tests/text_source.c converter/decode/decode.c converter/decode/schema.c
	converter/error.c converter/gather.c converter/ledger.c converter/strings.c converter/table.c)
flextrace_add_unit_test(NAME decode SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME gather SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME identity SOURCES ${converter_text_source}
	converter/definitions.c converter/identity.c LIBS Threads::Threads)
