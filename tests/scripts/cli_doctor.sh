#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_doctor.sh FLEXTRACE ENABLED DISABLED PROVIDER FIRMWARE-FOLDER: what the doctor says of programs and firmware images.
set -u
FLEXTRACE=$1
enabled=$2
disabled=$3
provider=$4
firmware=$5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
	echo "FAIL: $*" >&2
	cat "$dir/out"
	exit 1
}

# doctor CODE FILE...: its lines in $dir/out.
doctor() {
	wanted=$1
	shift
	status=0
	"$FLEXTRACE" doctor "$@" >"$dir/out" 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] || fail "exit code $status, not $wanted: doctor $*"
}
says() {
	grep -q -- "$1" "$dir/out" || fail "does not say '$1'"
}

version=$("$FLEXTRACE" --version | cut -d' ' -f2)
cp "$enabled" "$dir/stripped" && strip --strip-all "$dir/stripped" || exit 1
doctor 0 "$enabled" "$dir/stripped"
says "^ok    $enabled: instrumented, flextrace $version$"
says "^ok    $dir/stripped: instrumented, flextrace $version$"
doctor 2 "$disabled"
says "^fail  $disabled: not instrumented, or compiled out$"
says 'FLEXTRACE_DISABLE'
doctor 0 "$provider"
says "LTTng provider, flextrace $version$"
doctor 2 "$enabled" "$0" "$dir/missing"
says '^ok '
says 'Not an ELF file'
says 'No such file'
doctor 2 --pid=999999999
says 'there is none'
doctor 1 --pid=none

set -- "$firmware"/*.elf
[ -e "$1" ] || { echo "no firmware was built: left out"; exit 0; }
doctor 0 "$@"
for elf in "$@"; do
	says "^ok    $elf: markers with areas of version 1, a counter of 64 bits and 2 slots for runs$"
	says "^ok    $elf: [1-9][0-9]* names of markers$"
done
llvm-strip --strip-all -o "$dir/bare.elf" "$1" || exit 1
doctor 2 "$dir/bare.elf"
says 'stripped of what tells of them'
llvm-objcopy --remove-section=.flextrace.names "$1" "$dir/nameless.elf" || exit 1
doctor 0 "$dir/nameless.elf"
says '^warn .*: no names of markers'
llvm-objcopy --remove-section=.flextrace.markers "$1" "$dir/older.elf" || exit 1
doctor 0 "$dir/older.elf"
says '^warn .*: markers, of an unknown version'
printf '7u\00032\0' >"$dir/future"
llvm-objcopy --update-section=.flextrace.markers="$dir/future" "$1" "$dir/newer.elf" || exit 1
doctor 2 "$dir/newer.elf"
says '^fail .*areas of version 7, this flextrace reads version 1$'
