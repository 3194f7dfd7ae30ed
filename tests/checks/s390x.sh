#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# s390x.sh TOP FOLDER: what the order of bytes may change, as s390x under QEMU's user-mode emulation. Builds it in
# FOLDER. All that runs without a session daemon: scripts/s390x.
set -eu
cd "$1"
export LC_ALL=C # an assembler in Turkish does not know its own operators
command -v s390x-linux-gnu-gcc >/dev/null || { echo "skipped: there is no compiler for s390x"; exit 77; }
command -v qemu-s390x >/dev/null || command -v qemu-s390x-static >/dev/null ||
	{ echo "skipped: QEMU's emulation of s390x is not installed"; exit 77; }
root=$PWD/build-s390x/root
[ -e "$root/complete" ] || { echo "skipped: there are no libraries of s390x; scripts/s390x gets them"; exit 77; }

# Markers and their drain; what a program counts and says of itself (its provider is built, no daemon runs there);
# readers; clocks; other tools' files; what is written.
tests="area_file marker marker_run drain drain_slots drain_twice drain_hostile elf_names emulator
	tracer tracer_threads definitions emit_counts recording wanted environment
	schema decode gather identity emitted ctf_repair ctf_overwritten reader bt2_source
	unwrap unwrap_boots unwrap_records line band
	trace_events torch aie device_log core_tables writer csv chrome run_json spool table"
# shellcheck disable=SC2086 # words
{
	cmake -S . -B "$2" -G Ninja --toolchain cmake/s390x.cmake -DFLEXTRACE_S390X_ROOT="$root" \
		-DFLEXTRACE_BENCH=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=
	cmake --build "$2" --target flextrace_lttng golden $(printf 'test_%s ' $tests)
} >"$2.log" 2>&1 || {
	tail -n 40 "$2.log"
	exit 1
}
# shellcheck disable=SC2086 # words
ctest --test-dir "$2" -j "$(nproc)" --output-on-failure --no-tests=error \
	-R "^(golden\..*|unit\.($(printf '%s|' $tests)golden))\$"
