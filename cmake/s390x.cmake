# SPDX-License-Identifier: Apache-2.0
# Toolchain: s390x, the big-endian host, with Debian's cross compiler and the libraries that scripts/s390x puts into
# FLEXTRACE_S390X_ROOT; programs run under QEMU's user-mode emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FLEXTRACE_S390X_ROOT)

cmake_path(SET root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build-s390x/root")
set(FLEXTRACE_S390X_ROOT "${root}" CACHE PATH "Libraries of s390x")
set(CMAKE_SYSROOT "${FLEXTRACE_S390X_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE s390x-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${FLEXTRACE_S390X_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
	"${FLEXTRACE_S390X_ROOT}/usr/lib/s390x-linux-gnu/pkgconfig:${FLEXTRACE_S390X_ROOT}/usr/share/pkgconfig")

find_program(FLEXTRACE_QEMU_S390X NAMES qemu-s390x qemu-s390x-static REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR "${FLEXTRACE_QEMU_S390X};-L;${FLEXTRACE_S390X_ROOT}")
