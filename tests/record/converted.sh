#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# converted.sh FLEXTRACE PROGRAM TERMINAL: record converts what it recorded, leaves the programs of others out, and
# report prints it.
. "$(dirname "$0")/lib.sh"

# Two programs of the recording, and one of the same user that does not belong to it.
run 4 "$FLEXTRACE" record -o out -- sh -c \
	'"$0" scopes=2; env -u FLEXTRACE_SESSION "$0" scopes=30; "$0" scopes=3 exit=4' "$PROGRAM"
[ ! -s out.log ] || fail "the summary is in the program's output"
says 'What ran' err.log
[ "$(rows out/tables/host.csv)" -eq 5 ] || fail "host.csv has $(rows out/tables/host.csv) rows, not 5"
expect_events out scope 35
run 0 "$FLEXTRACE" report out losses
says foreign_process out.log
[ -s out/trace.json ] && [ -s out/run.json ] || fail "files are missing"
[ -z "$(find out -name '*.tmp')" ] || fail "half-written files are left"
[ -z "$(find out -maxdepth 1 -perm /077)" ] || fail "others may read $(find out -maxdepth 1 -perm /077)"
nothing_left

# The summary again, a table, a sorted one.
run 0 "$FLEXTRACE" report out
[ -s out.log ] || fail "no summary"
run 0 "$FLEXTRACE" report out host --sort=dur_ns --limit=2
[ "$(wc -l <out.log)" -eq 3 ] || { cat out.log; fail "not two rows"; }
says '2 of 5 rows' err.log
run 0 "$FLEXTRACE" report host.csv out --sort=dur_ns --limit=2
[ "$(wc -l <out.log)" -eq 3 ] || fail "a table before its directory has not two rows"
run 1 "$FLEXTRACE" report out nonsense
says 'there are .*host' err.log
run 1 "$FLEXTRACE" report out host --sort=nonsense
says 'there are .*dur_ns' err.log
run 1 "$FLEXTRACE" report out --sort=dur_ns
run 1 "$FLEXTRACE" report out ../out/host
mkdir empty
run 2 "$FLEXTRACE" report empty
(cd empty && run 2 "$FLEXTRACE" report) || exit 1

# Losses that are too many are told by the exit code, unless the program failed itself.
run 3 "$FLEXTRACE" record --subbuf-size=4K --num-subbuf=2 --fail-on-loss -o lossy -- "$UNREAD" "$PROGRAM" scopes=20000
run 7 "$FLEXTRACE" record --subbuf-size=4K --num-subbuf=2 --fail-on-loss -o lossy2 -- "$UNREAD" "$PROGRAM" scopes=20000 exit=7
grep -q lttng_discarded lossy/tables/losses.csv || grep -q discarded lossy/tables/losses.csv || fail "losses.csv does not tell"

# A directory's name is not a pattern.
run 0 "$FLEXTRACE" record -o 'all [of] it?*' -- "$PROGRAM" scopes=1
[ "$(rows 'all [of] it?*/tables/host.csv')" -eq 1 ] || fail "not 1 row in a directory with a strange name"
run 1 "$FLEXTRACE" report 'all [of] it?*' nonsense
says 'there are .*host' err.log

# start and stop convert too, beside the trace or elsewhere.
run 0 "$FLEXTRACE" start -o started
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=6
run 0 "$FLEXTRACE" stop -o elsewhere started
[ "$(rows elsewhere/tables/host.csv)" -eq 6 ] || fail "not 6 rows after stop"
[ ! -e started/run.json ] || fail "converted into two places"
nothing_left

# Without -o: a directory of our own, by the program's name; report finds the newest.
run 0 "$FLEXTRACE" record --quiet -- "$PROGRAM" scopes=1
[ ! -s out.log ] || fail "--quiet prints"
[ -d flextrace-program-*/trace ] || fail "no directory by the program's name"
run 0 "$FLEXTRACE" report runtime
says work out.log
