#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man_options.sh FLEXTRACE MANDIR COMPLETION: every command has a man page; the page, --help and completion name the
# same options, the first two with the same arguments and defaults; the sink's page names the options of `convert` with
# their arguments and defaults, and that of the source for AIE those that are its own; no text about an option is of one
# that there is not; and mandoc has nothing to say (where it is installed).
set -eu
FLEXTRACE=$1
completion=$3
cd "$2"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

fail() {
	echo "FAIL: $*" >&2
	bad=1
}

# The page of a command, behind `.so` where several share one.
page_of() {
	shared=$(sed -n 's,^\.so man1/,,p' "flextrace-$1.1")
	echo "${shared:-flextrace-$1.1}"
}

# Options that --help lists, one a line, with argument and, behind a tab, default: "-f, --formats=LIST	chrome,csv".
help_options() {
	"$FLEXTRACE" "$1" --help | sed '1,/^Options:/d' |
		awk '/^ +(-[A-Za-z], )?--/ && n++ { print "" } { printf "%s ", $0 } END { print "" }' |
		sed -E 's/  +/ /g; s/^ //; s/ $//; s/ \(default: (.*)\)$/\t\1/; s/^((-., )?[^ ]*)[^\t]*/\1/'
}

# The items of a list in a page, each with its default.
items() {
	awk '/^\.It / { if (n++) print ""; sub(/^\.It /, ""); printf "%s", $0; told = 0 }
		/^The default is / && n && !told++ { sub(/^The default is /, ""); sub(/\.$/, ""); printf "\t%s", $0 }
		END { print "" }'
}

# Options that the page has in its section "Options" or "Options of COMMAND".
page_options() {
	sed -n "/^\.Ss Options\( of $1\)\{0,1\}\$/,/^\.S[sh] /{/^\.S[sh] /d; p;}" "$(page_of "$1")" | items |
		sed -E 's/ Ns Op = Ns Ar ([^\t]*)/[=\1]/; s/ Ns = Ns Ar /=/; s/Fl -/--/; s/^Fl (.) , /-\1, /'
}

# expect_parameters PAGE GROUP...: beside `inputs`, the page of a component has what convert has in these groups.
expect_parameters() {
	page=$1
	shift
	"$FLEXTRACE" options convert | awk -F '\t' -v groups=" $* " 'index(groups, " " $1 " ") {
		print $3 "=" ($5 == "" ? "yes|no" : $5) ($6 == "" ? "" : "\t" $6) }' | sort >"$scratch/options"
	[ -s "$scratch/options" ] || fail "convert has no options of $*"
	items <"$page" | sed -nE 's/^Li ([^ ]+) No = Ar ([^ ]+) Pq [^\t]*/\1=\2/p' | grep -v '^inputs=' | sort >"$scratch/page"
	diff -u "$scratch/options" "$scratch/page" || fail "parameters of $page differ from the options of convert"
}

# Words that completion offers: complete WORD... with the last one to be completed.
complete() {
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flextrace "$1"; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$completion" "$FLEXTRACE" "$@"
}

commands=$("$FLEXTRACE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 7 ] || fail "only these commands: $commands"
for command in $commands; do
	[ -f "flextrace-$command.1" ] || { fail "no page for $command"; continue; }
	help_options "$command" | sort -u >"$scratch/help"
	page_options "$command" | sort -u >"$scratch/page"
	[ "$(wc -l <"$scratch/help")" -ge 2 ] || fail "$command --help names no options"
	diff -u --label "$command --help" --label "$(page_of "$command")" "$scratch/help" "$scratch/page" ||
		fail "options of $command differ"
	complete "$command" -- | sort -u >"$scratch/words"
	sed -E 's/^-., //; s/\[?=.*//; s/\t.*//' "$scratch/help" | sort | diff -u --label "$command --help" --label completion - "$scratch/words" ||
		fail "completion of $command differs"
	grep -q "$command" flextrace.1 || fail "flextrace.1 does not name $command"
done

[ "$(complete rec)" = record ] || fail "completion of rec: $(complete rec)"

# A block of options.mdoc is of an option that some command has in that group.
for command in $commands; do
	"$FLEXTRACE" options "$command"
done | cut -f1,3 | tr '\t' ' ' | sort -u >"$scratch/options"
sed -n 's/^\.\\" = //p' "$(dirname "$completion")/../docs/man/options.mdoc" | sort >"$scratch/blocks"
[ -s "$scratch/blocks" ] || fail "no blocks in options.mdoc"
comm -13 "$scratch/options" "$scratch/blocks" >"$scratch/odd"
[ ! -s "$scratch/odd" ] || fail "texts about no option: $(cat "$scratch/odd")"

# Components take what convert takes, but what is about reading; those that read, that of their files.
expect_parameters babeltrace2-sink.flextrace.timeline.7 conversion aie
expect_parameters babeltrace2-source.flextrace.aie-json.7 aie-files

if command -v mandoc >/dev/null; then
	for page in *.[17]; do
		grep -q '^\.so' "$page" && continue
		mandoc -T lint -W warning "$page" >"$scratch/lint" 2>/dev/null || { cat "$scratch/lint"; fail "$page"; }
	done
else
	echo "mandoc is not installed: the pages are not checked by it"
fi
exit $bad
