#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh TOP: scripts/check in a repository of its own, where cmake and ctest are words in a log. 77: no git or no
# clang-format.
set -eu
top=$1
command -v git >/dev/null || { echo "git is not installed"; exit 77; }
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC2046 # a list of names; this test may itself run in a hook
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
fail() {
	echo "check.sh: $*" >&2
	cat "$scratch/said" >&2
	exit 1
}
# says WORDS COMMAND...: fails, and tells so.
refuses() {
	words=$1
	shift
	if "$@" >"$scratch/said" 2>&1; then fail "succeeded: $*"; fi
	grep -q -e "$words" "$scratch/said" || fail "does not say '$words': $*"
}
passes() { "$@" >"$scratch/said" 2>&1 || fail "failed: $*"; }
good() { printf 'int main(void)\n{\n\treturn 0;\n}\n' >"$1"; }
bad() { printf 'int main ( void ) { return 0 ; }\n' >"$1"; }

mkdir -p "$scratch/bin" "$scratch/tree/scripts"
for name in cmake ctest; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/log"\n[ ! -e "%s/%s.fails" ]\n' $name "$scratch" "$scratch" $name >"$scratch/bin/$name"
	chmod +x "$scratch/bin/$name"
done
export PATH="$scratch/bin:$PATH"
cp "$top/scripts/check" "$top/scripts/lib.sh" "$scratch/tree/scripts"
cp "$top/.clang-format" "$scratch/tree"
cd "$scratch/tree"
git init -q .
mkdir build-dev
: >build-dev/check.log

# Before there is a commit, and with a name that has a blank.
good "a b.c"
passes scripts/check --format
git add -A
passes git commit -qm one

# New, changed and staged files are looked at; what is committed, gone or no C is not.
bad new.h
refuses 'clang-format -i new.h' scripts/check
good new.h
bad "a b.c"
refuses 'a b.c' scripts/check --format
git add -A
refuses 'a b.c' scripts/check --format
rm "a b.c"
bad text.md
passes scripts/check --format
[ ! -e "$scratch/log" ] || fail "built although files are not formatted"

# The hook lets a commit be or not; somebody's own hook stays.
git checkout -q HEAD -- .
rm -f new.h text.md
passes scripts/check --install
bad c.c
git add -A
refuses 'clang-format -i c.c' git commit -qm bad
good c.c
git add -A
touch "$scratch/ctest.fails"
refuses 'tests failed' git commit -qm failing
rm "$scratch/ctest.fails"
passes git commit -qm good
grep -q 'cmake --build --preset dev' "$scratch/log" || fail "does not build"
passes scripts/check --install
echo 'exit 0' >.git/hooks/pre-commit
refuses 'hook already' scripts/check --install
refuses 'unknown option' scripts/check --formt
