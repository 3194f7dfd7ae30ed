#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs, libraries and providers of different versions in one process: versions.sh TOP
# Each mix records what both sides know, or says that nothing is recorded. All are built here with AddressSanitizer:
# reading behind a shorter payload stops the program. A later version is this one with a member more in each payload.
# Runs below private.sh.
top=$1
# shellcheck source=tests/tracer/guest_lib.sh
. "$top/tests/tracer/guest_lib.sh"
cc=${CC:-cc}
flags="-O1 -g -fsanitize=address -fno-omit-frame-pointer -D_GNU_SOURCE"
start_daemon

# build NAME: the library and the provider of a copy of the tracer.
build() {
	home=$dir/$1
	rm -rf "$home/build"
	mkdir "$home/build"
	for source in "$home"/src/*.c; do
		$cc $flags -I"$home/include" -I"$home/src" -c "$source" -o "$home/build/$(basename "$source").o" || exit 1
	done
	$cc $flags -fPIC -shared -fvisibility=hidden -fno-sanitize=alignment -D_LGPL_SOURCE -DLTTNG_UST_COMPAT_API_VERSION=1 \
		-I"$home/include" -I"$home/src" "$home"/src/provider/*.c "$home/src/wanted.c" -llttng-ust -llttng-ust-common \
		-llttng-ust-tracepoint -lpthread -ldl -o "$home/libflextrace-lttng.so" || exit 1
}

# program NAME HEADERS_OF LIBRARY_OF
program() {
	future=
	[ "$2" = present ] || future='-DFUTURE(p)=p.future=42'
	$cc $flags $future -I"$dir/$2/include" -c "$top/tests/tracer/versions.c" -o "$dir/$1.o" &&
		$cc $flags "$dir/$1.o" "$dir/$3"/build/*.o -lpthread -ldl -o "$dir/$1" || exit 1
}

cp -r "$top/tracer" "$dir/present"
cp -r "$top/tracer" "$dir/future"
# A member more at the end of these payloads, and the provider records it.
sed -i -E '/^struct flextrace_(device|scope|counter|device_op) \{/,/^\};/ s/^\};/\tuint64_t future;\n};/
	s/^(#define FLEXTRACE_DEVICE_INIT .*)\}/\1, 0}/
	s/^(.*-1, "", "", \{0, 0, 0, 0, 0\}, "")\}/\1, 0}/' "$dir/future/include/flextrace/events.h"
sed -i -E 's/^( +unit, device)\)/\1, 42)/
	s/scope->size = sizeof\(\*scope\);/& scope->future = 42;/' "$dir/future/include/flextrace/flextrace_impl.h"
sed -i -E 's/^(#define FIELDS_flextrace_(device|counter|scope|device_op) )/\1U64(future) /' \
	"$dir/future/src/provider/tracepoints.h"
[ "$(grep -c 'uint64_t future' "$dir/future/include/flextrace/events.h")" -eq 4 ] &&
	[ "$(grep -c 'U64(future)' "$dir/future/src/provider/tracepoints.h")" -eq 4 ] || fail "a later version"
build present
build future

program same present present
program newer future future
program newer_object future present
program older_object present future

# mix PROGRAM PROVIDER_OF EXPECTED: what the provider knows of the program's payloads; EXPECTED of the later member.
mix() {
	name=$1-$2
	session_start "$name"
	# What stops in the middle of a record is waited for by LTTng: not by this test.
	FLEXTRACE_PROVIDER="$dir/$2/libflextrace-lttng.so" "$dir/$1" 2>"$dir/$name.err" ||
		{ fail "$name: $(cat "$dir/$name.err")"; exit 1; }
	session_stop "$name"
	for pattern in "device: .*${3:+future = $3, }device = 1, uuid = \"serial 1\"" \
		"scope: .*${3:+future = $3, }kind = 0, begin_ns = [1-9][0-9]*, name = \"a scope\"" \
		"counter: .*${3:+future = $3, }name = \"depth\", value = 2.5" \
		"device_op: .*${3:+future = $3, }device = 1, .*job = 7, .*name = \"matmul\", .* \[4\] = 5 \], .*peer = -1" \
		"device_op: .*${3:+future = 0, }device = 1, .*job = 8, .*name = \"matmul\", .* \[4\] = 5 \], .*peer = -1"; do
		expect_count "$name" 1 "$pattern"
	done
}
mix same present ""
mix newer future 42
mix newer present ""
mix same future 0
mix newer_object present ""
mix older_object future 0
mix older_object present ""
mix newer_object future '(0|42)' # what its library keeps for later ends where that ends

# A program of 0.1 asks for another table, and links with another library.
cat >"$dir/old.c" <<'EOF'
#include <dlfcn.h>
int main(int n, char **args)
{
	const void *(*get)(void) = (const void *(*)(void))dlsym(dlopen(args[n - 1], RTLD_NOW), "flextrace_provider_1");
	return !get || get() ? 1 : 0;
}
EOF
$cc $flags -Wno-pedantic "$dir/old.c" -ldl -o "$dir/old" || exit 1
for version in present future; do
	said=$("$dir/old" "$dir/$version/libflextrace-lttng.so" 2>&1) || fail "a program of 0.1 got a table: $version"
	case $said in
	*"built with flextrace 0.1"*) ;;
	*) fail "a program of 0.1 was told: $version: $said" ;;
	esac
done
echo 'extern const void *flextrace_i_api; int main(void) { return flextrace_i_api != 0; }' >"$dir/old_object.c"
for version in present future; do
	if $cc $flags "$dir/old_object.c" "$dir/$version"/build/*.o -lpthread -ldl -o "$dir/old_object" 2>/dev/null; then
		fail "an object of 0.1 links with this library: $version"
	fi
done

# A provider of 0.1 has no table for this program.
echo 'const void *flextrace_provider_1(void); const void *flextrace_provider_1(void) { return 0; }' >"$dir/old_provider.c"
$cc -shared -fPIC "$dir/old_provider.c" -o "$dir/old_provider.so" || exit 1
for program in same newer newer_object older_object; do
	said=$(FLEXTRACE_PROVIDER="$dir/old_provider.so" "$dir/$program" 2>&1) || fail "$program beside a provider of 0.1: $said"
	case $said in
	*"older than this program"*) ;;
	*) fail "beside a provider of 0.1 $program says: $said" ;;
	esac
done
exit $failed
