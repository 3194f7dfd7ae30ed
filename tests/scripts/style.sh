#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a script can hold of CONTRIBUTING.md: style.sh TOP. Prints every violation, then fails.
set -u
cd "$1" || exit 1
bad=0
complain() {
	[ -z "$(printf %s "$2" | tr -d '[:space:]')" ] && return
	printf '%s:\n%s\n' "$1" "$2"
	bad=1
}

sources=$(find tracer firmware-markers converter analysis cli tests docs/examples \( -name '*.c' -o -name '*.h' \) | sort)

# including PATTERN PATH...: where sources include what matches. A path without sources is a complaint too.
including() {
	pattern=$1
	shift
	for path in "$@"; do
		found=$(find "$path" -name '*.[ch]' 2>/dev/null)
		[ -n "$found" ] && grep -nE "#include [<\"]$pattern" $found /dev/null
		[ -n "$found" ] || echo "  $path: no source is there to look at"
	done
}

complain "babeltrace2 is included outside converter/bt2/" \
	"$(including babeltrace2 tracer firmware-markers converter analysis cli | grep -v '^converter/bt2/')"
complain "an LTTng header is included in a public header" \
	"$(including lttng tracer/include firmware-markers/include)"
complain "files longer than 600 lines" \
	"$(wc -l $sources | awk '$2 != "total" && $1 > 600 { print "  " $2 ": " $1 }')"
complain "folders of more than 25 sources" \
	"$(for f in $sources; do dirname "$f"; done | grep -v '^tests' | sort | uniq -c | awk '$1 > 25 { print "  " $2 ": " $1 }')"
# Which folder includes which, one pair a line. A header is named from its own folder, or from one of `roots`.
roots="converter/ cli/ analysis/ tracer/include/ tracer/src/ tracer/ firmware-markers/include/ firmware-markers/"
included_folders() {
	printf '%s\n' $sources | grep -v '^tests' | awk -v roots=" $roots" '
		{ there[$0]; file[NR] = $0 }
		END {
			n = split(roots, root, " ")
			for (i = 1; i <= NR; i++) {
				from = file[i]
				sub("/[^/]*$", "", from)
				while ((getline line < file[i]) > 0) {
					if (line !~ /^#include ["<]/) continue
					split(line, part, /["<>]/)
					path = from "/" part[2]
					for (r = 0; r <= n && !(path in there); r++) path = root[r] part[2]
					if (!(path in there)) continue
					sub("/[^/]*$", "", path)
					if (path != from) print from, path
				}
				close(file[i])
			}
		}' | sort -u
}
pairs=$(included_folders)
[ -n "$pairs" ] || complain "no folder includes another" "  $1"
complain "folders that include each other" "$(printf '%s\n' "$pairs" | tsort 2>&1 >/dev/null)"
complain "lines longer than 100 columns (tab = 8)" \
	"$(for f in $sources; do expand "$f" | awk -v f="$f" 'length($0) > 100 { print "  " f ":" NR }'; done)"
# Tables, code and lines that are one link cannot be wrapped. Bytes that continue a letter do not count.
complain "lines of prose longer than 120 columns" \
	"$(for f in *.md $(find docs -name '*.md'); do LC_ALL=C awk -v f="$f" '/^ *```/ { code = !code }
		code || /^ *[|#<]/ || !/[^ ] [^ ]/ { next }
		{ gsub(/[\200-\277]/, "") } length($0) > 120 { print "  " f ":" NR }' "$f"; done)"
complain "a declaration is torn over two lines; say less behind it" \
	"$(grep -nE '^	+(const )?(struct [a-z_]+|enum [a-z_]+|u?int[0-9]+_t|double|char|bool|size_t)( \*?const)?( [a-z_, ]*,)?$' \
		$(find tracer firmware-markers converter analysis cli -name '*.[ch]'))"
complain "files without a licence line" \
	"$(grep -L 'SPDX-License-Identifier' $sources $(find . -name CMakeLists.txt -not -path './build*'))"
complain "a library prints or exits" \
	"$(grep -nE '(^|[^a-z_])(printf|puts|perror|exit|abort)\(' $(find converter analysis -name '*.c') |
		grep -vE "snprintf|[ (]printf\('")" # the latter is SQL
product=$(find tracer firmware-markers converter analysis cli -name '*.[ch]')
complain "letters are changed by the rules of the user's locale, not by ascii.h" \
	"$(grep -nE '(^|[^a-z_])(tolower|toupper|strn?casecmp|strcasestr)\(|REG_ICASE' $product)"
complain "a shell is called" "$(grep -nE '(^|[^a-z_])(system|popen|wordexp)\(|"/bin/sh"' $product)"
complain "a temporary file has a name that can be guessed" \
	"$(grep -nE '(^|[^a-z_])(tmpnam|tempnam|mktemp)\(' $product)"
if command -v clang-format >/dev/null; then
	complain "not formatted (clang-format -i)" \
		"$(clang-format --dry-run $sources 2>&1 | grep -o '^[^:]*:[0-9]*' | sort -u | head -n 20)"
else
	echo "clang-format is not installed: format not checked"
fi
exit $bad
