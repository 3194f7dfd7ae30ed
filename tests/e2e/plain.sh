#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain.sh BUILD: installs below a prefix of its own and types the README's lines to a first trace, word by word.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
[ -w "$BUILD" ] || { echo "skipped: cmake --install writes its list into the build tree, which is another's"; exit 77; }
lttng-sessiond --daemonize
cmake --install "$BUILD" --prefix "$PWD/usr" >install.log || { cat install.log; fail "cmake --install"; }
pc=$(find "$PWD/usr" -name flextrace.pc)
export PATH="$PWD/usr/bin:$PATH" PKG_CONFIG_PATH="${pc%/*}"
# What is built here would look for the provider where the build tree is to be installed.
FLEXTRACE_PROVIDER=$(find "$PWD/usr" -name libflextrace-lttng.so)
unset BABELTRACE_PLUGIN_PATH
cp "$SOURCE/docs/examples/first.c" .

# A build with sanitizers needs their runtime, in what is linked with it and in babeltrace2.
asan=$(find "$PWD/usr" -name 'babeltrace-plugin-flextrace.so' -exec ldd {} + | awk '/libasan/ { print $3; exit }')
cc() {
	command "${CC:-cc}" "$@" ${asan:+-fsanitize=address,undefined}
}
babeltrace2() {
	LD_PRELOAD="$asan" command babeltrace2 "$@"
}

awk '/<!-- e2e:/ { found = 1 } /^```$/ { found = typing = 0 } typing { print } found && /^```sh$/ { typing = 1 }' \
	"$SOURCE/README.md" >lines.sh
[ "$(grep -c '^[a-zA-Z]' lines.sh)" -eq 8 ] || { cat lines.sh; fail "these are not the README's lines"; }
set -x
. ./lines.sh >typed.log 2>&1 || { cat typed.log; fail "the README's lines do not work"; }
set +x
for out in out plain; do
	check_output $out
	[ "$(grep -c ',User,iteration,' $out/tables/host.csv)" -eq 1000 ] || fail "$out: host.csv has not the 1000 scopes"
done
grep -q iteration typed.log || fail "the report does not tell of the scopes"
