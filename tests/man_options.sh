#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man_options.sh FLEXTRACE MANDIR: --help and the man pages name the same options, and the sink's page the same
# parameters as the command's conversion options.
set -u
FLEXTRACE=$1
cd "$2" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

# The page of a command, behind `.so` where several share one.
page_of() {
	page=flextrace-$1.1
	shared=$(sed -n 's/^\.so \(man1\/\)\{0,1\}//p' "$page")
	echo "${shared:-$page}"
}

help_options() {
	"$FLEXTRACE" "$1" --help | grep -oE '^ +(-[a-z], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+'
}

for command in record start stop status convert report doctor; do
	page=$(page_of $command)
	help_options $command >"$dir/help" || exit 1
	[ -s "$dir/help" ] || { echo "$command --help lists no option"; bad=1; }
	cat "$dir/help" >>"$dir/$page"
	grep -E '^\.It Fl' "$page" | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/Fl -/--/' | sort -u >"$dir/man"
	missing=$(sort -u "$dir/help" | comm -23 - "$dir/man")
	# `stop` converts like `convert` does and points to its page.
	if grep -q 'Xr flextrace-convert 1' "$page"; then
		missing=$(for option in $missing; do
			grep -qE "^\.It Fl.*-${option#--}( |\$)" flextrace-convert.1 || echo "$option"
		done)
	fi
	[ -z "$missing" ] || { echo "$page: not described:" $missing; bad=1; }
done
for page in "$dir"/flextrace-*.1; do
	name=$(basename "$page")
	sort -u "$page" >"$dir/help"
	grep -E '^\.It Fl' "$name" | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/Fl -/--/' | sort -u >"$dir/man"
	unknown=$(comm -13 "$dir/help" "$dir/man")
	[ -z "$unknown" ] || { echo "$name: no command has:" $unknown; bad=1; }
done

help_options convert | sed 's/^--//' | grep -vxE 'workers|help|quiet' | sort >"$dir/help"
sed -n 's/^\.It Li \([a-z-]*\) No.*/\1/p' babeltrace2-sink.flextrace.timeline.7 | sort >"$dir/man"
diff "$dir/help" "$dir/man" || { echo "the sink's page and the options differ"; bad=1; }
exit $bad
