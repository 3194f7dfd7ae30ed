# SPDX-License-Identifier: Apache-2.0
# Shared by scripts/demo and scripts/test: the packages they need, and how they are installed.
# shellcheck shell=sh

# What compiles the firmware for QEMU's cores, and the markers for bare RISC-V in the tests.
FIRMWARE_PACKAGES="clang lld"
BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config lttng-tools liblttng-ust-dev liblttng-ctl-dev
	babeltrace2 libbabeltrace2-dev libcjson-dev libminizip-dev libsqlite3-dev zlib1g-dev
	libjs-dygraphs"

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() {
	say "$*" >&2
	exit 1
}

# missing_packages PACKAGE...: those that are not installed, each with a space before it.
missing_packages() {
	for package in "$@"; do
		state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
		[ "$state" = "install ok installed" ] || printf ' %s' "$package"
	done
}

# install_packages PACKAGE...: as root; 1, with apt-get's words on stderr, if it cannot be done.
install_packages() {
	say "installing $*"
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	# Another apt, as of unattended upgrades, is waited for.
	if ! { apt-get update -qq &&
		apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"; } >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# need_packages PACKAGE...: installs what is missing, says what, does nothing when all is there.
need_packages() {
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		say "some packages are missing; run this line, then $0 again:" >&2
		printf '  sudo apt-get install --no-install-recommends%s\n' "$missing" >&2
		exit 1
	fi
	# shellcheck disable=SC2086 # one word a package
	install_packages $missing || fail "the packages could not be installed; see above"
}

# The package that has QEMU for RISC-V; nothing if QEMU is there already. Debian 13 split it off another one.
qemu_package() {
	! command -v qemu-system-riscv32 >/dev/null || return 0
	[ "$(id -u)" -ne 0 ] || apt-get update -qq >/dev/null 2>&1 || true
	if apt-cache show qemu-system-riscv >/dev/null 2>&1; then
		echo qemu-system-riscv
	else
		echo qemu-system-misc
	fi
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

# What compiles for s390x and runs it: the smaller emulator, unless one is there.
s390x_packages() {
	echo gcc-s390x-linux-gnu
	command -v qemu-s390x-static >/dev/null || echo qemu-user
}

# Puts the libraries of s390x into build-s390x/root, by an apt of its own that leaves the machine's packages alone.
# 1, with apt-get's words on stderr, if it cannot be done.
get_s390x_root() {
	[ ! -e build-s390x/root/complete ] || return 0
	say "getting the libraries of s390x"
	rm -rf build-s390x/apt build-s390x/root
	mkdir -p build-s390x/apt/state/lists/partial build-s390x/apt/cache/archives/partial build-s390x/root
	: >build-s390x/apt/status
	cat >build-s390x/apt/apt.conf <<-END
		APT::Architecture "s390x";
		APT::Architectures { "s390x"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "";
		Acquire::Retries "2";
		Acquire::http::Timeout "30";
		Debug::NoLocking "true";
		Dir::State "$PWD/build-s390x/apt/state";
		Dir::State::status "$PWD/build-s390x/apt/status";
		Dir::Cache "$PWD/build-s390x/apt/cache";
	END
	if ! (
		export APT_CONFIG="$PWD/build-s390x/apt/apt.conf"
		apt-get update -qq && apt-get install -qq -y --download-only libbabeltrace2-dev libcjson-dev \
			libcmocka-dev liblttng-ctl-dev liblttng-ust-dev libminizip-dev libsqlite3-dev zlib1g-dev
	) >build-s390x/apt/log 2>&1; then
		cat build-s390x/apt/log >&2
		return 1
	fi
	for package in build-s390x/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" build-s390x/root || return 1
	done
	rm -rf build-s390x/apt
	# The libraries that compilers look for are links to absolute paths, which are there in this root only. Where
	# libm.so leads nowhere, libm.a would be taken, beside the shared libc that lacks what it needs.
	find build-s390x/root -type l -lname '/*' | while read -r link; do
		ln -srfn "build-s390x/root$(readlink "$link")" "$link"
	done
	: >build-s390x/root/complete
}

# What scripts/s390x needs besides what the others do. 1 where it cannot be had.
get_s390x() {
	# shellcheck disable=SC2046 # a list of words
	missing=$(missing_packages $(s390x_packages))
	if [ -n "$missing" ] && [ "$(id -u)" -ne 0 ]; then
		say "with these packages the tests also run as s390x:"
		printf '  sudo apt-get install --no-install-recommends%s\n' "$missing"
		return 1
	fi
	# shellcheck disable=SC2086 # one word a package
	{ [ -z "$missing" ] || install_packages $missing; } && get_s390x_root
}
