#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh BUILD [FOLDER...]: clang-tidy on each file that BUILD compiles below these folders of the project (none: all).
set -eu
build=$1
shift
cd "$(dirname "$0")/../.."
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT

# Once a file, however many programs it is compiled for.
awk 'BEGIN { RS = "\n},?\n"; print "[" }
	{ sub(/^\[\n/, "") }
	{ gsub(/ -mtls-dialect=gnu2/, "") } # only gcc knows it
	match($0, /"file": "[^"]*"/) && !seen[substr($0, RSTART, RLENGTH)]++ { print comma $0 "\n}"; comma = "," }
	END { print "]" }' "$build/compile_commands.json" >"$once/compile_commands.json"
files=$(sed -n "s|^ *\"file\": \"$PWD/\(.*\.c\)\",\{0,1\}$|\1|p" "$once/compile_commands.json")
for folder in "${@:-}"; do
	printf '%s\n' "$files" | grep "^$folder"
done >"$once/files"
xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$once" <"$once/files"
echo "clang-tidy: $(wc -l <"$once/files") files"
