# SPDX-License-Identifier: Apache-2.0
# find_package(flextrace): flextrace::tracer for programs, flextrace::markers for firmware in a process.
include(${CMAKE_CURRENT_LIST_DIR}/flextraceTargets.cmake)
