# SPDX-License-Identifier: Apache-2.0
# page.awk: a man page, with what `flextrace options` says of a command where the page has a line
#
#   .\" OPTIONS COMMAND GROUP...      as options of the command; those of a +GROUP with their block of options.mdoc
#   .\" PARAMETERS COMMAND GROUP...   as parameters of a component
#
# of options in these groups. Variables: flextrace (how it is run), details (options.mdoc).
BEGIN {
	while ((getline line < details) > 0) {
		if (split(line, word, " ") == 4 && word[2] == "=")
			key = word[3] " " word[4]
		else if (key != "")
			text[key] = text[key] line "\n"
	}
	if (key == "")
		fail("cannot read " details)
}

function fail(message) {
	print "page.awk: " FILENAME ": " message | "cat >&2"
	failed = 1
	exit 1
}

function item(    argument) {
	argument = field[5] == "" ? "" : " Ns = Ns Ar " field[5]
	if (field[4] ~ /^a switch or/)
		argument = " Ns Op = Ns Ar " field[5]
	return ".It " (field[2] == "" ? "" : "Fl " field[2] " , ") "Fl -" field[3] argument
}

function parameter() {
	return ".It Li " field[3] " No = Ar " (field[5] == "" ? "yes|no" : field[5]) " Pq " field[4]
}

function list(    command, i, group, n) {
	command = flextrace " options " $3
	for (i = 4; i <= NF; i++)
		wanted[$i] = 1
	while ((command | getline line) > 0) {
		n++
		split(line, field, "\t")
		group = field[1]
		if (!(group in wanted) && !("+" group in wanted)) {
			if ($2 == "OPTIONS")
				fail("no place for option " field[3] " of group " group)
			continue
		}
		print $2 == "OPTIONS" ? item() : parameter()
		print field[9] "."
		if (field[6] != "")
			print "The default is " field[6] "."
		if ("+" group in wanted)
			printf "%s", text[group " " field[3]]
	}
	if (close(command) != 0 || (n == 0 && $3 != "status"))
		fail("cannot run " command)
	split("", wanted)
	if ($2 == "OPTIONS")
		print ".It Fl q , Fl -quiet\nPrint errors only.\n.It Fl h , Fl -help\nPrint a page about the options."
}

/^\.\\" (OPTIONS|PARAMETERS) / {
	list()
	next
}
{ print }
END { exit failed }
