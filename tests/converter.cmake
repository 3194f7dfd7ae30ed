# SPDX-License-Identifier: Apache-2.0
# Tests of the converter's core: each links only the sources it names.

flextrace_add_unit_test(NAME strings SOURCES converter/strings.c LIBS Threads::Threads)
flextrace_add_unit_test(NAME table SOURCES converter/table.c)
flextrace_add_unit_test(NAME ledger SOURCES converter/ledger.c)
