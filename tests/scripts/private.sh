#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# private.sh [--shm SIZE] COMMAND [ARGUMENT...]
# Runs a command where it can meet no session daemon but those it starts, and takes these down with it:
# as root in namespaces of its own (mounts and processes), else as an unprivileged user. LTTNG_TEST_DIR
# is a scratch folder, and LTTNG_HOME, where `lttng` notes its current session. Exits 77, with the reason,
# where neither is possible.
set -u
shm=1g
if [ "${1:-}" = --shm ]; then
	shm=$2
	shift 2
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export LTTNG_TEST_DIR="$scratch" LTTNG_HOME="$scratch"

# The consumer daemons that a session daemon starts end with their namespace. The scratch folder may be below
# what is mounted over.
inside='mkdir -p /run/lttng && mount -t tmpfs tmpfs /run/lttng &&
	mount -t tmpfs -o size='$shm',mode=1777 tmpfs /dev/shm && mkdir -p "$LTTNG_TEST_DIR" && exec "$@"'

if [ "$(id -u)" -eq 0 ]; then
	if unshare -mpf --mount-proc --propagation private true 2>/dev/null; then
		unshare -mpf --mount-proc --propagation private --kill-child sh -c "$inside" sh "$@"
		exit $?
	fi
	if setpriv --reuid=65534 --clear-groups test -x "$1" 2>/dev/null; then
		chown 65534 "$scratch"
		HOME="$scratch" setpriv --reuid=65534 --clear-groups "$@"
		exit $?
	fi
	echo "skipped: root, but may neither make namespaces nor run $1 as another user"
	exit 77
fi
if [ "$shm" != 1g ]; then
	echo "skipped: needs a /dev/shm of $shm, which takes root"
	exit 77
fi
HOME="$scratch" "$@"
