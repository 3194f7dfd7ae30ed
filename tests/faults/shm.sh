#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shm.sh FLEXTRACE PROGRAM: run in a /dev/shm of 64 MiB that somebody else fills: before the session daemon starts, before the
# buffers of all channels or of one are made (LTTng calls it success), or while a program is recorded.
. "$(dirname "$0")/lib.sh"

# A session daemon before whose start all but so many KiB are taken.
mkdir bin
cat >bin/lttng-sessiond <<END
#!/bin/sh
free=\$(df -k --output=avail /dev/shm | tail -n 1)
head -c \$((free - \$KIB_LEFT))K /dev/zero >/dev/shm/filler
exec $(command -v lttng-sessiond) "\$@"
END
chmod +x bin/lttng-sessiond
run 2 env KIB_LEFT=0 PATH="$PWD/bin:$PATH" "$FLEXTRACE" record -o fails -- "$PROGRAM" say=ran
says 'lttng-sessiond cannot start: /dev/shm is full' err.log
rm /dev/shm/filler
for left in 512 $(($(getconf _NPROCESSORS_CONF) * 1024 + 2048)); do
	run 2 env KIB_LEFT=$left PATH="$PWD/bin:$PATH" "$FLEXTRACE" record -o fails -- "$PROGRAM" say=ran
	says 'could not make buffers' err.log
	says '/dev/shm' err.log
	[ ! -s out.log ] || fail "the program ran unrecorded"
	[ ! -e fails ] || fail "a directory is left"
	rm /dev/shm/filler
	all_clean
done

# Buffers that are made stay: of a program that runs, and of one that starts.
begin filled "$FLEXTRACE" record -o filled -- sh -c '"$0" scopes=50 write=here read=go scopes=5000; "$0" scopes=7' "$PROGRAM"
# LTTng may still give back what it needed to make them.
while [ "$(df -k --output=avail /dev/shm | tail -n 1)" -gt 0 ]; do
	head -c 64M /dev/zero >>/dev/shm/filler 2>/dev/null || :
done
finish 0
expect_rows filled host.csv 5057 5057
rm /dev/shm/filler
all_clean
