#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# secure.sh TOP: a set-uid or set-gid program takes no file and no switch from the environment of who runs it.
# Runs below private.sh.
set -eu
top=$1
dir=$LTTNG_TEST_DIR
chmod 755 "$dir"

# as_other PROGRAM NAME=VALUE...: runs a copy of PROGRAM with rights that are not the caller's: root's for an
# unprivileged user, else those of another group that the caller is in.
group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
as_other() {
	program=$1.other
	cp "$1" "$program"
	shift
	if [ "$(id -u)" -eq 0 ]; then
		chmod u+s "$program"
		setpriv --reuid=65534 --regid=65534 --clear-groups env "$@" "$program"
	else
		chgrp "$group" "$program"
		chmod g+s "$program"
		env "$@" "$program"
	fi
}
if [ "$(id -u)" -eq 0 ]; then
	setpriv --reuid=65534 --regid=65534 --clear-groups true || { echo "skipped: cannot become another user"; exit 77; }
elif [ -z "$group" ]; then
	echo "skipped: not root, and in one group only"
	exit 77
fi

provider() { # NAME
	mkdir "$dir/$1"
	${CC:-cc} -shared -fPIC -DNAME="\"$1\"" "$top/tests/tracer/secure_provider.c" -o "$dir/$1/libflextrace-lttng.so"
}
program() { # FILE OPTION...
	out=$1
	shift
	${CC:-cc} "$@" "$top"/tracer/src/*.c "$top/tests/tracer/secure.c" -I"$top/tracer/include" -o "$out" -lpthread -ldl
}
provider installed
provider named
program "$dir/plain"
program "$dir/placed" -DFLEXTRACE_PROVIDER_DIR="\"$dir/installed\""

expect() { # WHAT WANTED GOT
	[ "$3" = "$2" ] || { printf 'FAILED: %s:\n%s\ninstead of:\n%s\n' "$1" "$3" "$2"; exit 1; }
}

nothing=$(as_other "$dir/plain" | head -n 1)
[ "$nothing" = "secure 1" ] || { echo "skipped: programs with set-uid or set-gid get no rights here"; exit 77; }

# What the environment does to a program of the caller's own.
export FLEXTRACE_DEVICE=off FLEXTRACE_VERBOSE=1
unset FLEXTRACE FLEXTRACE_PROVIDER
expect "the installed provider" "loaded installed
secure 0
device off" "$("$dir/placed" 2>/dev/null)"
expect "a named provider" "loaded named
secure 0
device off" "$(FLEXTRACE_PROVIDER="$dir/named/libflextrace-lttng.so" "$dir/placed" 2>/dev/null)"
expect "a provider on the search path" "loaded named
secure 0
device off" "$(LD_LIBRARY_PATH="$dir/named" "$dir/plain" 2>/dev/null)"
expect "switched off" "secure 0
device off" "$(FLEXTRACE=0 "$dir/placed" 2>/dev/null)"
[ -n "$("$dir/placed" 2>&1 >/dev/null)" ] || { echo "FAILED: nothing is said"; exit 1; }

# And to one with the rights of another: only what was installed with it is loaded, and nothing is said.
expect "as another, a named provider" "loaded installed
secure 1
device drain" "$(as_other "$dir/placed" FLEXTRACE_PROVIDER="$dir/named/libflextrace-lttng.so" 2>&1)"
expect "as another, a provider on the search path" "secure 1
device drain" "$(as_other "$dir/plain" LD_LIBRARY_PATH="$dir/named" 2>&1)"
expect "as another, switched off" "loaded installed
secure 1
device drain" "$(as_other "$dir/placed" FLEXTRACE=0 2>&1)"
