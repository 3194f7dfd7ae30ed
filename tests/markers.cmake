# SPDX-License-Identifier: Apache-2.0
# Firmware markers, the drain and the emulated device.
set(markers firmware-markers/marker.c firmware-markers/ports/posix/port_posix.c)
set(drain tracer/src/area/area_read.c tracer/src/area/area_words.c tracer/src/area/drain.c tracer/src/area/elf_file.c tracer/src/area/elf_names.c)
set(posix_port firmware-markers/ports/posix/include)

flextrace_add_unit_test(NAME marker SOURCES ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME marker_run SOURCES ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain_slots SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain_live SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain_runs SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain_twice SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME drain_hostile SOURCES ${drain} ${markers} INCLUDES ${posix_port})
flextrace_add_unit_test(NAME area_model SOURCES tests/support/area_model.c firmware-markers/ports/posix/port_posix.c
	INCLUDES ${posix_port} DEFINITIONS FLEXTRACE_PORT_HEADER="model_port.h" FLEXTRACE_BLOCK_TICKS=1000u)
flextrace_add_unit_test(NAME elf_names SOURCES tracer/src/area/elf_file.c tracer/src/area/elf_names.c)
flextrace_add_unit_test(NAME emulator SOURCES ${drain} LIBS flextrace_emulator)
flextrace_add_unit_test(NAME drain_soak SOURCES ${drain} LIBS flextrace_emulator)
flextrace_add_unit_test(NAME emulator_clocks SOURCES LIBS flextrace_emulator)

add_test(NAME freestanding.riscv
	COMMAND ${PROJECT_SOURCE_DIR}/tests/freestanding/riscv.sh ${PROJECT_SOURCE_DIR}
		${PROJECT_BINARY_DIR}/firmware-markers/qemu)
set_tests_properties(freestanding.riscv PROPERTIES SKIP_RETURN_CODE 77 LABELS unit TIMEOUT 600)
add_test(NAME freestanding.porting
	COMMAND ${PROJECT_SOURCE_DIR}/tests/freestanding/porting.sh ${PROJECT_SOURCE_DIR})
add_test(NAME freestanding.costs
	COMMAND ${PROJECT_SOURCE_DIR}/tests/freestanding/costs.sh ${PROJECT_SOURCE_DIR} code)
add_test(NAME freestanding.instructions
	COMMAND ${PROJECT_SOURCE_DIR}/tests/freestanding/costs.sh ${PROJECT_SOURCE_DIR} run)
set_tests_properties(freestanding.porting freestanding.costs freestanding.instructions PROPERTIES
	SKIP_RETURN_CODE 77 LABELS unit TIMEOUT 600)
add_test(NAME freestanding.disabled
	COMMAND ${PROJECT_SOURCE_DIR}/tests/freestanding/disabled.sh ${PROJECT_SOURCE_DIR} gcc clang)
set_tests_properties(freestanding.disabled PROPERTIES LABELS unit TIMEOUT 600)

# Real firmware on RISC-V cores; skipped, with the reason, where there is no QEMU for them.
flextrace_add_unit_test(NAME qemu_host SOURCES LIBS flextrace_qemu
	INCLUDES firmware-markers/qemu firmware-markers/emulator)
flextrace_add_unit_test(NAME qemu SOURCES ${drain} LIBS flextrace_qemu INCLUDES firmware-markers/qemu)
flextrace_add_unit_test(NAME qemu_soak SOURCES ${drain} LIBS flextrace_qemu)
set_tests_properties(unit.qemu unit.qemu_soak PROPERTIES LABELS qemu SKIP_RETURN_CODE 77 RESOURCE_LOCK qemu)

# The long soaks, 2 million markers a core: ctest -C soak -L soak
add_test(NAME soak.emulator CONFIGURATIONS soak COMMAND test_drain_soak 2000000)
add_test(NAME soak.qemu CONFIGURATIONS soak COMMAND test_qemu_soak 2000000)
add_test(NAME soak.area_model CONFIGURATIONS soak COMMAND test_area_model 100000)
set_tests_properties(soak.emulator soak.qemu soak.area_model PROPERTIES LABELS soak TIMEOUT 1200 SKIP_RETURN_CODE 77)
