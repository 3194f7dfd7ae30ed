# SPDX-License-Identifier: Apache-2.0
# The flextrace command: its parts by themselves, its recordings with a session daemon of their own.
flextrace_add_unit_test(NAME buffers SOURCES cli/ring/buffers.c converter/base/paths.c cli/process/process.c converter/base/text/sizes.c converter/base/error.c)
flextrace_add_unit_test(NAME csv_reader SOURCES converter/base/text/csv_reader.c converter/base/error.c)
flextrace_add_unit_test(NAME table_view SOURCES cli/report/csv_table.c cli/report/table_view.c cli/terminal/human.c cli/terminal/message.c
	LIBS flextrace_core)
flextrace_add_unit_test(NAME diff SOURCES cli/report/diff.c cli/report/diff_text.c cli/report/diff_write.c cli/report/summary.c cli/report/summary_ops.c
	cli/report/summary_aie.c cli/report/summary_answers.c cli/report/summary_emitted.c cli/report/summary_zones.c cli/terminal/human.c cli/terminal/message.c
	tests/support/scratch.c LIBS flextrace_core m)
flextrace_add_unit_test(NAME twice SOURCES cli/report/twice.c tests/support/scratch.c LIBS flextrace_core)
flextrace_add_unit_test(NAME instrumentation SOURCES cli/doctor/instrumentation.c tracer/src/area/elf_file.c tracer/src/area/elf_names.c converter/base/error.c)
flextrace_add_unit_test(NAME launcher SOURCES cli/process/launcher.c cli/process/process.c converter/base/paths.c converter/base/error.c)
flextrace_add_unit_test(NAME salvage SOURCES cli/ring/salvage.c cli/ring/layout.c converter/base/text/text_file.c)
flextrace_add_unit_test(NAME salvage_kills SOURCES cli/ring/salvage.c cli/ring/layout.c converter/base/text/text_file.c)
flextrace_add_unit_test(NAME summary SOURCES cli/report/summary.c cli/report/summary_ops.c cli/report/summary_aie.c
	cli/report/summary_answers.c cli/report/summary_emitted.c cli/report/summary_zones.c cli/terminal/human.c cli/terminal/message.c tests/support/scratch.c LIBS flextrace_core)

if(TARGET flextrace)
	list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
	flextrace_add_unit_test(NAME losses SOURCES tests/support/loss_cases.c tests/support/ctf_text.c tests/support/ctf_writer.c
		tests/support/text_source.c tests/support/scratch.c tests/support/trace_checker.c
		LIBS flextrace_core PkgConfig::CJSON ZLIB::ZLIB m
		DEFINITIONS FLEXTRACE="$<TARGET_FILE:flextrace>" MAKE_AREAS="$<TARGET_FILE:make_areas>"
			CHECK_RUN="$<TARGET_FILE:check_run>" EMULATOR="${emulator}")
	add_dependencies(test_losses flextrace make_areas check_run)
endif()

if(TARGET flextrace AND TARGET flextrace_lttng)
	add_executable(record_program record/program.c)
	set_target_properties(record_program PROPERTIES OUTPUT_NAME program)
	target_link_libraries(record_program PRIVATE flextrace_options flextrace_tracer)
	add_executable(full_rate record/full_rate.c)
	set_target_properties(full_rate PROPERTIES ENABLE_EXPORTS ON) # LTTng finds its memcpy()
	target_link_libraries(full_rate PRIVATE flextrace_options flextrace_tracer Threads::Threads)
	add_test(NAME record.killed COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/killed.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:full_rate>)
	add_test(NAME soak.killed CONFIGURATIONS soak COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/killed.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:full_rate> 50)
	add_test(NAME record.ended COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/ended.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:full_rate>)
	add_test(NAME soak.ended CONFIGURATIONS soak COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/ended.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:full_rate> 20)
	add_test(NAME record.mpirun COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/mpirun.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program>)
	add_test(NAME soak.mpirun CONFIGURATIONS soak COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/mpirun.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program> 20)
	foreach(kind record soak)
		set_tests_properties(${kind}.ended ${kind}.mpirun PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK lttng
			ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)
	endforeach()
	set_tests_properties(record.ended record.mpirun PROPERTIES LABELS lttng TIMEOUT 600)
	set_tests_properties(soak.ended soak.mpirun PROPERTIES LABELS soak TIMEOUT 3600)
	set_tests_properties(record.killed soak.killed PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK lttng
		ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)
	set_tests_properties(record.killed PROPERTIES LABELS lttng TIMEOUT 600)
	set_tests_properties(soak.killed PROPERTIES LABELS soak TIMEOUT 7200)
	# A program of each MPI. In dev the provider brings the sanitizers' runtime, which it has to have as well.
	foreach(mpi openmpi mpich)
		if(NOT TARGET flextrace_mpi_${mpi})
			continue()
		endif()
		get_target_property(mpicc flextrace_mpi_${mpi} FLEXTRACE_MPICC)
		set(program ${CMAKE_CURRENT_BINARY_DIR}/mpi_program.${mpi})
		add_custom_command(OUTPUT ${program} DEPENDS record/mpi_program.c COMMAND ${mpicc} -O1 -pthread
			$<$<BOOL:${FLEXTRACE_SANITIZE}>:-fsanitize=address,undefined> -Wno-stringop-overflow -o ${program}
			${CMAKE_CURRENT_SOURCE_DIR}/record/mpi_program.c COMMAND_EXPAND_LISTS VERBATIM)
		add_custom_target(mpi_program_${mpi} ALL DEPENDS ${program})
		add_test(NAME record.${mpi} COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
			${CMAKE_CURRENT_SOURCE_DIR}/record/mpi.sh $<TARGET_FILE:flextrace> ${program} ${mpi})
		set_tests_properties(record.${mpi} PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600 RESOURCE_LOCK lttng)
	endforeach()
	add_test(NAME record.registration COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/registration.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program> 60)
	add_test(NAME soak.registration CONFIGURATIONS soak COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/registration.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program> 2000)
	set_tests_properties(record.registration soak.registration PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK lttng
		ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)
	set_tests_properties(record.registration PROPERTIES LABELS lttng TIMEOUT 600)
	set_tests_properties(soak.registration PROPERTIES LABELS soak TIMEOUT 3600)
	add_test(NAME record.emitted COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/emitted.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program>
		$<TARGET_FILE:full_rate> $<TARGET_FILE:tracer_forks> $<TARGET_FILE:tracer_plain_lttng>)
	set_tests_properties(record.emitted PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600 RESOURCE_LOCK lttng
		ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)
	add_executable(record_terminal record/terminal.c)
	target_link_libraries(record_terminal PRIVATE flextrace_options util)
	foreach(case program windows memory job crash running converted doctor own causes waits)
		set(shm 1g)
		if(case STREQUAL memory)
			set(shm 64m)
		endif()
		add_test(NAME record.${case} COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh --shm ${shm}
			${CMAKE_CURRENT_SOURCE_DIR}/record/${case}.sh $<TARGET_FILE:flextrace>
			$<TARGET_FILE:record_program> $<TARGET_FILE:record_terminal>)
		set_tests_properties(record.${case} PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600
			RESOURCE_LOCK lttng)
	endforeach()
	add_test(NAME record.rights COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/record/rights.sh ${PROJECT_BINARY_DIR})
	set_tests_properties(record.rights PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600
		RESOURCE_LOCK lttng)
	# Programs that record does not start must find the provider by themselves.
	set_tests_properties(record.running record.converted record.doctor record.own record.causes
		record.waits PROPERTIES
		ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)

	add_executable(record_disabled record/program.c)
	target_compile_definitions(record_disabled PRIVATE FLEXTRACE_DISABLE)
	target_include_directories(record_disabled PRIVATE ${PROJECT_SOURCE_DIR}/tracer/include)
	target_link_libraries(record_disabled PRIVATE flextrace_options)
	add_test(NAME cli.doctor COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/cli_doctor.sh $<TARGET_FILE:flextrace>
		$<TARGET_FILE:record_program> $<TARGET_FILE:record_disabled> $<TARGET_FILE:flextrace_lttng>
		${PROJECT_BINARY_DIR}/firmware-markers/qemu)
	set_tests_properties(cli.doctor PROPERTIES LABELS cli)
endif()
