#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tracer, copied to an empty place, builds with a compiler and nothing else, and inside a foreign project; so do the
# markers with the tracer's wire.h. Both build from an installed tree through pkg-config and find_package:
# alone.sh plain|foreign|markers|installed TOP
# Runs below private.sh: what is built here may meet a session daemon.
set -eu
what=$1 top=$2
dir=$LTTNG_TEST_DIR
cc=${CC:-cc} cxx=${CXX:-c++}

says_hello() { # program, environment...
	program=$1
	shift
	[ "$(env "$@" "$program")" = hello ] || { echo "FAILED: $program"; exit 1; }
}

needs_only_libc() {
	needed=$(readelf -d "$1" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' | grep -vE '^(libc|libdl|libpthread|ld-linux.*)\.' || true)
	[ -z "$needed" ] || { echo "FAILED: $1 needs $needed"; exit 1; }
}

plain() {
	cp -r "$top/tracer" "$dir/tracer"
	$cc -O1 -Wall -Wextra -Werror "$dir"/tracer/src/*.c "$top/tests/tracer/hello.c" \
		-I"$dir/tracer/include" -o "$dir/hello" -lpthread -ldl
	says_hello "$dir/hello" FLEXTRACE=1
	says_hello "$dir/hello" FLEXTRACE=0
	says_hello "$dir/hello" FLEXTRACE_PROVIDER=/nowhere.so
	needs_only_libc "$dir/hello"
	if $cc -M "$dir"/tracer/src/*.c -I"$dir/tracer/include" | grep -E 'lttng|babeltrace|cJSON'; then
		echo "FAILED: the library includes what may not be there"
		exit 1
	fi
}

foreign() { # as on a machine without LTTng
	cp -r "$top/tracer" "$dir/tracer"
	cmake -G Ninja -S "$top/tests/tracer/foreign" -B "$dir/foreign" -DFLEXTRACE_TRACER="$dir/tracer" \
		-DFLEXTRACE_LTTNG_INCLUDE=OFF >"$dir/log" || { cat "$dir/log"; exit 1; }
	cmake --build "$dir/foreign" >"$dir/log" || { cat "$dir/log"; exit 1; }
	says_hello "$dir/foreign/hello_c" FLEXTRACE=1
	says_hello "$dir/foreign/hello_cxx" FLEXTRACE=1
	needs_only_libc "$dir/foreign/hello_c"
	[ -z "$(find "$dir/foreign" -name 'libflextrace-lttng*')" ] || { echo "FAILED: a provider"; exit 1; }
}

markers() { # on a compiler's own, as firmware has it
	cp -r "$top/firmware-markers" "$dir/markers"
	cp "$top/tracer/include/flextrace/wire.h" "$dir/markers/include/flextrace"
	$cc -std=c99 -ffreestanding -O2 -Wall -Wextra -pedantic -Werror -c "$dir/markers/marker.c" \
		-I"$dir/markers/include" -I"$dir/markers/ports/posix/include" -o "$dir/marker.o"
}

installed() { # tracer and markers alone, in a tree of their own
	cmake -G Ninja -S "$top" -B "$dir/build" -DFLEXTRACE_CONVERTER=OFF -DFLEXTRACE_TESTS=OFF \
		-DCMAKE_INSTALL_PREFIX="$dir/usr" -DCMAKE_BUILD_TYPE=Release >"$dir/log" &&
		cmake --build "$dir/build" -j 2 >"$dir/log" &&
		cmake --install "$dir/build" >"$dir/log" || { cat "$dir/log"; exit 1; }
	# Moved elsewhere it still compiles.
	mv "$dir/usr" "$dir/moved"
	pc=$(find "$dir/moved" -name flextrace.pc)
	export PKG_CONFIG_PATH="${pc%/*}"
	$cc -std=c99 -Wall -Wextra -pedantic -Werror "$top/tests/tracer/hello.c" \
		$(pkg-config --cflags --libs flextrace) -o "$dir/hello_c"
	$cxx -std=c++11 -Wall -Wextra -pedantic -Werror "$top/tests/tracer/hello.cc" \
		$(pkg-config --cflags --libs flextrace) -o "$dir/hello_cxx"
	cmake -G Ninja -S "$top/tests/tracer/installed" -B "$dir/installed" \
		-DCMAKE_PREFIX_PATH="$dir/moved" >"$dir/log" || { cat "$dir/log"; exit 1; }
	cmake --build "$dir/installed" >"$dir/log" || { cat "$dir/log"; exit 1; }
	mv "$dir/moved" "$dir/usr"

	for program in "$dir/hello_c" "$dir/hello_cxx" "$dir/installed/hello_c" "$dir/installed/hello_cxx"; do
		says_hello "$program" FLEXTRACE=1
		needs_only_libc_or_cxx "$program"
		# The provider is found where it was installed, without a word in the environment.
		provider=$(find "$dir/usr" -name libflextrace-lttng.so)
		[ -z "$provider" ] || FLEXTRACE_VERBOSE=1 "$program" 2>&1 | grep -qF "path=$provider" ||
			{ echo "FAILED: $program does not find its provider"; exit 1; }
	done
	grep -q '<name>flextrace:op_info</name>' "$dir/usr/share/flextrace/flextrace.lttng"
}

needs_only_libc_or_cxx() {
	readelf -d "$1" | grep NEEDED | grep -iE 'lttng|urcu|babeltrace' && { echo "FAILED: $1"; exit 1; }
	return 0
}

"$what"
