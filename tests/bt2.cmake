# SPDX-License-Identifier: Apache-2.0
# Options, the reading of traces and the plug-in.
flextrace_add_unit_test(NAME options SOURCES converter/options.c converter/error.c)
flextrace_add_unit_test(NAME ctf_repair SOURCES tests/scratch.c tests/ctf_writer.c
	converter/ctf_repair.c converter/error.c converter/decode/schema.c)
flextrace_add_unit_test(NAME reader SOURCES tests/scratch.c tests/ctf_writer.c tests/event_samples.c
	LIBS flextrace_bt2)
