#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh TOP FOLDER: cppcheck has nothing to say about the project's code. Keeps its results in FOLDER, so that
# only what changed is looked at again. What is suppressed says why beside it.
set -eu
cd "$1"
command -v cppcheck >/dev/null || { echo "skipped: cppcheck is not installed"; exit 77; }
mkdir -p "$2"

cppcheck --quiet -j "$(nproc)" --cppcheck-build-dir="$2" --error-exitcode=1 \
	--enable=warning,performance,portability --inline-suppr --std=c11 \
	--template='{file}:{line}: {severity}: {message} [{id}]' \
	-D_GNU_SOURCE -D__BYTE_ORDER__=1234 -D__ORDER_BIG_ENDIAN__=4321 -DFLEXTRACE_VERSION='""' --library=tests/checks/cppcheck.cfg \
	-I. -Iconverter -Icli -Itracer/include -Itracer/src -Ifirmware-markers/include -Ifirmware-markers/ports/posix/include \
	converter analysis cli tracer firmware-markers
