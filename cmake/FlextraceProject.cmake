# SPDX-License-Identifier: Apache-2.0
# Flags for everything compiled here, and the helpers that declare targets and tests.

option(FLEXTRACE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer, without recovery" OFF)
option(FLEXTRACE_FUZZ "Fuzzers of clang's libFuzzer in place of replays of their corpus" OFF)
option(FLEXTRACE_WERROR "Warnings are errors" OFF)
option(FLEXTRACE_COVERAGE "Count which lines and branches run" OFF)
option(FLEXTRACE_ANALYZE "Compile with gcc's static analyzer" OFF)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
	set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# flextrace_options: linked PRIVATE by every target of this project; flextrace_language is what of it holds in any build.
add_library(flextrace_language INTERFACE)
add_library(flextrace_options INTERFACE)
target_link_libraries(flextrace_options INTERFACE flextrace_language)
target_compile_definitions(flextrace_language INTERFACE _GNU_SOURCE
	FLEXTRACE_VERSION="${PROJECT_VERSION}")
target_compile_options(flextrace_language INTERFACE -Wall -Wextra -Wshadow -Wvla -Wpointer-arith
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
	# texts of several lines in tables
	$<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation>)
if(FLEXTRACE_WERROR)
	target_compile_options(flextrace_language INTERFACE -Werror)
endif()
if(FLEXTRACE_FUZZ)
	add_compile_options(-fsanitize=fuzzer-no-link)
	add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(FLEXTRACE_SANITIZE)
	set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_compile_options(flextrace_options INTERFACE ${sanitize})
	target_link_options(flextrace_options INTERFACE ${sanitize})
endif()
if(FLEXTRACE_COVERAGE)
	# Threads and processes count into the same numbers.
	target_compile_options(flextrace_options INTERFACE --coverage -fprofile-update=atomic)
	target_link_options(flextrace_options INTERFACE --coverage)
endif()
if(FLEXTRACE_ANALYZE)
	# gcc 12 takes what is kept in memory that it did not see allocated for lost; LeakSanitizer looks for leaks.
	target_compile_options(flextrace_options INTERFACE -fanalyzer
		-Wno-analyzer-malloc-leak -Wno-analyzer-file-leak)
endif()

# flextrace_add_unit_test(NAME unwrap SOURCES ... [LIBS ...]): builds tests/unit/*/test_<NAME>.c with the
# given sources (relative to the top of the repository) and registers it under label "unit". Those
# of flextrace_core come from that library, which every test would otherwise compile anew; what a
# test defines itself stands in for the library's.
function(flextrace_add_unit_test)
	cmake_parse_arguments(arg "" "NAME" "SOURCES;LIBS;INCLUDES;DEFINITIONS" ${ARGN})
	list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
	list(TRANSFORM arg_INCLUDES PREPEND ${PROJECT_SOURCE_DIR}/)
	get_property(core GLOBAL PROPERTY FLEXTRACE_CORE_SOURCES)
	set(shared ${arg_SOURCES})
	list(REMOVE_ITEM arg_SOURCES ${core})
	list(REMOVE_ITEM shared ${arg_SOURCES})
	if(shared)
		list(PREPEND arg_LIBS flextrace_core)
	endif()
	file(GLOB_RECURSE source ${PROJECT_SOURCE_DIR}/tests/unit/test_${arg_NAME}.c)
	add_executable(test_${arg_NAME} ${source} ${arg_SOURCES})
	target_include_directories(test_${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/support
		${PROJECT_SOURCE_DIR}/converter ${PROJECT_SOURCE_DIR}/cli
		${PROJECT_SOURCE_DIR}/tracer/include
		${PROJECT_SOURCE_DIR}/firmware-markers/include ${arg_INCLUDES})
	target_compile_definitions(test_${arg_NAME} PRIVATE ${arg_DEFINITIONS})
	target_link_libraries(test_${arg_NAME} PRIVATE flextrace_options PkgConfig::CMOCKA ${arg_LIBS})
	add_test(NAME unit.${arg_NAME} COMMAND test_${arg_NAME})
	set_tests_properties(unit.${arg_NAME} PROPERTIES LABELS unit TIMEOUT 600)
endfunction()

# Lets the allocations of a test that has tests/support/failing_malloc.c among its sources fail.
function(flextrace_fail_allocations target)
	foreach(name malloc calloc realloc aligned_alloc strdup strndup asprintf vasprintf open_memstream mmap)
		target_link_options(${target} PRIVATE -Wl,--wrap=${name})
	endforeach()
endfunction()

# Tests that record do so one after the other. They begin first, so that the rest of this folder's tests run beside them
# and not before them.
function(flextrace_record_first)
	get_property(tests DIRECTORY PROPERTY TESTS)
	foreach(test ${tests})
		get_property(locks TEST ${test} PROPERTY RESOURCE_LOCK)
		if("lttng" IN_LIST locks)
			set_property(TEST ${test} PROPERTY COST 100)
		endif()
	endforeach()
endfunction()
