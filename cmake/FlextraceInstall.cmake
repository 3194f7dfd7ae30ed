# SPDX-License-Identifier: Apache-2.0
# pkg-config file and CMake package; what each folder installs stands in that folder.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/flextrace)
install(EXPORT flextraceTargets NAMESPACE flextrace:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/flextraceConfigVersion.cmake
	COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/flextraceConfig.cmake
	${PROJECT_BINARY_DIR}/flextraceConfigVersion.cmake DESTINATION ${package_dir})

# Found from where the file lies, so that the tree may be moved.
file(RELATIVE_PATH FLEXTRACE_PC_TO_PREFIX
	${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/flextrace.pc.in ${PROJECT_BINARY_DIR}/flextrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flextrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
