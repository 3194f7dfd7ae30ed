# SPDX-License-Identifier: Apache-2.0
# Shared by scripts/demo and scripts/test: the packages they need, and how they are installed.
# shellcheck shell=sh

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config lttng-tools liblttng-ust-dev liblttng-ctl-dev
	babeltrace2 libbabeltrace2-dev libcjson-dev zlib1g-dev"

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() {
	say "$*" >&2
	exit 1
}

# need_packages PACKAGE...: installs what is missing, says what, does nothing when all is there.
need_packages() {
	missing=
	for package in "$@"; do
		state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
		[ "$state" = "install ok installed" ] || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		say "some packages are missing; run this line, then $0 again:" >&2
		printf '  sudo apt-get install --no-install-recommends%s\n' "$missing" >&2
		exit 1
	fi
	say "installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	# shellcheck disable=SC2086 # one word a package
	if ! { apt-get update -qq && apt-get install -qq -y --no-install-recommends $missing; } >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		fail "the packages could not be installed; see above"
	fi
	rm -f "$log"
}

# build PRESET [-DNAME=VALUE...] [TARGET...]: configures and builds; shows the log only when something fails.
build() {
	preset=$1
	shift
	definitions=
	while [ $# -gt 0 ] && [ "${1#-D}" != "$1" ]; do
		definitions="$definitions $1"
		shift
	done
	log=$(mktemp)
	# shellcheck disable=SC2086 # one word a definition
	if ! { cmake --preset "$preset" --log-level=WARNING $definitions &&
		cmake --build --preset "$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
		grep -E -A12 'FAILED|rror' "$log" >&2 || tail -n 40 "$log" >&2
		rm -f "$log"
		fail "the build of preset $preset failed; see above"
	fi
	rm -f "$log"
}
