# SPDX-License-Identifier: Apache-2.0
# Firmware markers, the drain and the emulated device.
flextrace_add_unit_test(NAME marker
	SOURCES firmware-markers/marker.c firmware-markers/ports/posix/port_posix.c
	INCLUDES firmware-markers/ports/posix/include)
flextrace_add_unit_test(NAME drain
	SOURCES tracer/src/drain.c tracer/src/elf_names.c firmware-markers/marker.c
		firmware-markers/ports/posix/port_posix.c
	INCLUDES firmware-markers/ports/posix/include)
flextrace_add_unit_test(NAME elf_names SOURCES tracer/src/elf_names.c)
