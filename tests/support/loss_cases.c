/* SPDX-License-Identifier: Apache-2.0 */
#include "loss_cases.h"

#include <stddef.h>

/* clang-format off */

/* -- recordings -------------------------------------------------------------------------------- */

#define STREAM(class, instance) \
	"stream uuid=1 class=" #class " instance=" #instance \
	" offset=1700000000000000000 host=node0\n"
#define PROCESS(vpid, rank, session) \
	"1000000000000 " #vpid " " #vpid " process rank=" #rank " world_size=2 pid=" #vpid \
	" start_ns=999999999000 time_ns=1000000000000 boot_id=b time_namespace=4 host=node0" \
	" program=app session=" #session "\n"
#define DEVICE(vpid, device) \
	"1000000000100 " #vpid " " #vpid " device device=" #device " uuid=u" #device \
	" n_cores=4 core_hz=1000000000\n" \
	"1000000000110 " #vpid " " #vpid " clock_domain device=" #device " domain=0" \
	" counter_bits=32 nominal_hz=1000000000\n"
#define MARKER(id, name) \
	"1000000000200 1 1 marker_name device=0 id=" #id " name=" #name " file=fw.c line=1\n"
#define RANK_0 STREAM(0, 0) PROCESS(1, 0, mine) DEVICE(1, 0) MARKER(16, load) MARKER(48, tile) \
	MARKER(64, other) MARKER(80, spot) STREAM(1, 0)

/* A control block of 110 us in millisecond `n` of second 1000 of the host, whose device reads
 * n * 10^6 + 10^8 where the host is at n ms. */
#define BLOCK(vpid, n, what, stamps) \
	"10000" #n "120000 " #vpid " " #vpid " device_op device=0 domain=0 queue=0 job=" #n \
	" kind=1 name=k submit_ns=10000" #n "000000 complete_ns=10000" #n "110000" what \
	" ts=" stamps "\n"
#define OTHER_BLOCK(n, stamps) \
	"10000" #n "000000 1 1 device_op device=1 domain=0 queue=0 job=" #n " kind=1 name=k ts=" \
	stamps "\n"
#define WHOLE(n) "1" #n "001000,1" #n "002000,1" #n "003000,1" #n "103000,1" #n "104000"
#define WORK BLOCK(1, 01, "", WHOLE(01)) BLOCK(1, 02, "", WHOLE(02)) BLOCK(1, 03, "", WHOLE(03))
#define SCOPE(n, begin, name) \
	"10000" #n "000000 1 1 scope begin_ns=10000" begin "000000 name=" #name "\n"
#define BATCH(n, first, dropped, words) \
	"10000" #n "000000 1 1 marker_batch device=0 core=2 processor=0 domain=0 first_index=" \
	#first " dropped=" #dropped " words=" words "\n"
#define EDGE_OF(n, what, job, ms) \
	"10000" #n "000000 1 1 " what " device=0 queue=0 job=" #job " name=k host_ns=10000" ms \
	"000000\n"

/* Two ranks: each a control block that it launched, with its scope; rank 0 has one more, an
 * instant and a counter sample, too. */
#define TWO_RANKS STREAM(0, 0) PROCESS(1, 0, mine) DEVICE(1, 0) PROCESS(2, 1, mine) DEVICE(2, 0) \
	STREAM(1, 0) \
	"1000001000200 1 1 scope begin_ns=1000000999900 kind=5 name=launch correlation=1\n" \
	BLOCK(1, 01, " correlation=1", WHOLE(01)) \
	"1000002000200 2 2 scope begin_ns=1000001999900 kind=5 name=launch correlation=2\n" \
	BLOCK(2, 02, " correlation=2", WHOLE(02)) \
	BLOCK(1, 03, "", WHOLE(03)) \
	"1000004000000 1 1 scope begin_ns=1000003900000 name=\"AIU Roundtrip\"\n" \
	"1000005000000 1 1 instant name=here\n" \
	"1000005000001 1 1 counter name=load value=1\n"

/* -- files of others --------------------------------------------------------------------------- */

#define FLEX(list) {{"flex.json", "[" list "]"}}
#define X(name, ts, dur) \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":" #dur "}"
#define EDGE(ph, name, ts) \
	"{\"name\":\"" name "\",\"ph\":\"" ph "\",\"pid\":0,\"tid\":7,\"ts\":" #ts "}"

#define STAMPS(n) "\"TS1\":\"" #n "1000\",\"TS2\":\"" #n "1000\",\"TS3\":\"" #n "2000\"," \
	"\"TS4\":\"" #n "6000\",\"TS5\":\"" #n "6006\""
#define FLEX_KERNEL(name, ts, n) \
	"{\"name\":\"" name " Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":8,\"ts\":" #ts \
	",\"dur\":4,\"attr\":{" STAMPS(n) "}}"
#define TORCH_CALL(name, ts, dur) \
	"{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"" name \
	"\",\"pid\":50,\"tid\":50,\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"External id\":1}}"
#define TORCH_KERNEL(name, ts) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name \
	"\",\"pid\":0,\"tid\":0,\"ts\":" #ts ",\"dur\":4,\"args\":{\"correlation\":9}}"
#define TORCH(list) "{\"schemaVersion\":1,\"traceEvents\":[" list "]}"

#define TILE \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":" \
	"\"core_trace for tile2,1\"}}"
#define STATE(ph, name, ts, tid) \
	",{\"name\":\"" name "\",\"ts\":" #ts ",\"ph\":\"" ph "\",\"pid\":0,\"tid\":" #tid \
	",\"args\":{}}"
#define MARK(name, ts, tid) STATE("B", name, ts, tid) STATE("E", name, ts, tid)
#define START(ts) MARK("INSTR_EVENT_0", ts, 0)
#define STOP(ts)  MARK("INSTR_EVENT_1", ts, 1)

/* A packet of Perfetto of sequence 1. */
#define PACKET(length, fields) "\x0a" length "\x50\x01" fields

#define LOG_NAME "profile_log_device.csv"
#define LOG "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" \
	"PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
#define LOG_RUN "0, 0, 0, BRISC, 1, 1000\n0, 0, 0, BRISC, 4, 2000\n"

const struct loss_case loss_cases[] = {
	/* LTTng */
	{"LTTng has no room, twice",
	 .events = RANK_0 SCOPE(01, "00", a)
		"lost lttng_discarded_events 7\n" SCOPE(02, "01", b)
		"lost lttng_discarded_events 10\n" SCOPE(03, "02", c),
	 .lost = {{LOSS_DISCARDED_EVENTS, 17}}},
	{"LTTng overwrites packets of two streams",
	 .events = RANK_0 SCOPE(01, "00", a)
		"lost lttng_discarded_packets 3\n" SCOPE(02, "01", b)
		STREAM(1, 1) SCOPE(01, "00", d)
		"lost lttng_discarded_packets 2\n" SCOPE(05, "04", e),
	 .lost = {{LOSS_DISCARDED_PACKETS, 5}}},
	{"LTTng discards events before the first packet",
	 .events = RANK_0 STREAM(1, 1) "lost lttng_discarded_events 20\n" SCOPE(01, "00", a),
	 .lost = {{LOSS_DISCARDED_EVENTS, 20}}},
	{"a snapshot of a flight recorder",
	 .events = RANK_0 "lost lttng_discarded_packets 5\n" SCOPE(01, "00", a),
	 .lost = {{LOSS_OVERWRITTEN, 5}}},
	{"LTTng overwrites packets before it reads the first one",
	 .events = RANK_0 STREAM(1, 1) "lost lttng_discarded_packets 3\n" SCOPE(01, "00", a)
		"lost lttng_discarded_packets 2\n" SCOPE(05, "04", b),
	 .indexed = "channel1_1",
	 .lost = {{LOSS_DISCARDED_PACKETS, 2}, {LOSS_MISSING_PACKETS, 3}}},
	{"channels that LTTng could not make",
	 .events = RANK_0 SCOPE(01, "00", a),
	 .n_channels = 4,
	 .lost = {{LOSS_CHANNEL_NOT_CREATED, 2}}},
	{"no channel of definitions",
	 .events = STREAM(0, 0) SCOPE(01, "00", a),
	 .lost = {{LOSS_CHANNEL_NOT_CREATED, 1}}},
	{"records that a process counted, and nobody has",
	 .events = RANK_0 SCOPE(01, "00", a) "lost lttng_discarded_events 3\n" SCOPE(02, "01", b),
	 .emitted = "when,pid,start_ns,own,here,program,wait_ms,threads,process,device,scope\n"
		"starting,1,7,1,1,a,0,0,0,0,0\nstarting\nstarted,1,7,1,1,a,0,0,0,0,1\nstarted\n"
		"stopping,1,7,1,1,a,0,0,1,1,13\nstopping\nstopped,1,7,1,1,a,0,0,1,1,13\nstopped\n",
	 .lost = {{LOSS_DISCARDED_EVENTS, 3}, {LOSS_UNACCOUNTED, 12 - 2 - 3}}},
	{"records of programs that LTTng did not know yet",
	 .events = RANK_0 SCOPE(01, "00", a),
	 .emitted = "when,pid,start_ns,own,here,program,wait_ms,threads,process,device,"
		"scope,late_scope\n"
		"all\nstarting\nstarted\n"
		"stopping,1,7,0,1,a,0,0,1,1,1,6\nstopping,9,7,0,1,b,0,0,0,0,0,5\nstopping\n"
		"stopped,1,7,0,1,a,0,0,1,1,1,6\nstopped,9,7,0,1,b,0,0,0,0,0,5\nstopped\n",
	 .lost = {{LOSS_BEGAN_LATE, 6 + 5}}},
	{"a stream file that ends inside a packet",
	 .events = RANK_0 SCOPE(01, "00", a) "lost lttng_discarded_events 0\n" SCOPE(02, "01", b),
	 .cut = "channel1_0",
	 .lost = {{LOSS_TRUNCATED_STREAM, 1}}},

	{"a program that died while it wrote",
	 .events = RANK_0 SCOPE(01, "00", a),
	 .torn = "channel1_0",
	 .lost = {{LOSS_TORN_PACKETS, 1}}},

	/* marker areas that a host drained */
	{"a marker ring that was full, and one that was overwritten",
	 .events = RANK_0 WORK
		BATCH(04, 0, 12, "mark:80:101003500")
		BATCH(05, 6, 12, "mark:80:102003500"),
	 .lost = {{LOSS_RING_DROPPED, 12 + 5}}},
	{"a marker ring that is drained while nothing is recorded, and is full then and later",
	 .events = RANK_0 WORK
		BATCH(04, 0, 2, "mark:80:101003500")
		BATCH(05, 9, 5, "boot:8:32")
		BATCH(06, 9, 6, "mark:80:103003500"),
	 .lost = {{LOSS_RING_DROPPED, 2 + 1}, {LOSS_UNRECORDED, 8 + 3}}},
	{"slots that were used again before they were read",
	 .events = RANK_0 WORK
		BATCH(04, 3, 2, "slot:3:3,queue:1:0,anchor_lo:0:103000900,anchor_hi:0:0,"
			"stamp:0:103000900,stamp:3:103104100"),
	 .lost = {{LOSS_RUN_OVERWRITTEN, 2}}},
	{"words that say nothing",
	 .events = RANK_0 WORK
		BATCH(04, 0, 0, "mark:80:101003500,data:1:1,anchor_lo:0:0,stamp:99:1"),
	 .lost = {{LOSS_MALFORMED, 3}}},
	{"zones that only begin or only end",
	 .events = RANK_0 WORK
		BATCH(04, 0, 0, "mark:80:101003500,begin:16:101003600,begin:48:101003700,"
			"end:64:101003800"),
	 .lost = {{LOSS_UNMATCHED_BEGIN, 2}, {LOSS_UNMATCHED_END, 1}}},

	/* copies of marker areas: core 0 stops and drops, core 1 overwrites, and hangs */
	{"a memory that nobody drained",
	 .areas = "",
	 .lost = {{LOSS_RING_DROPPED, 7 + 8}, {LOSS_RUN_OVERWRITTEN, 2},
		{LOSS_UNMATCHED_BEGIN, 2}}},
	{"a memory that is cut inside an area",
	 .areas = "",
	 .n_bytes = 4500,
	 .lost = {{LOSS_TRUNCATED_STREAM, 1}, {LOSS_RING_DROPPED, 7},
		{LOSS_RUN_OVERWRITTEN, 2}, {LOSS_UNMATCHED_BEGIN, 2}}},

	/* stamps and brackets */
	{"stamps that were not taken",
	 .events = RANK_0 WORK
		BLOCK(1, 04, "", "0,104002000,104003000,104103000,104104000")
		BLOCK(1, 05, "", "105001000,105002000,0,105103000,105104000")
		BLOCK(1, 06, "", "0,0,0,0,0"),
	 .lost = {{LOSS_MISSING_STAMP, 3}}},
	{"stamps that contradict all others",
	 .events = RANK_0 WORK BLOCK(1, 04, "", WHOLE(04)) BLOCK(1, 05, "", WHOLE(05))
		BLOCK(1, 20, "", "4014968296,4014969296,4014970296,4015070296,4015071296"),
	 .lost = {{LOSS_OUTLIER, 1}}},
	{"a counter without evidence",
	 .events = RANK_0 WORK OTHER_BLOCK(21, "1,2,3,4,5") OTHER_BLOCK(22, "6,7,8,9,10"),
	 .lost = {{LOSS_NO_CLOCK, 2}}},
	{"what ends before it begins",
	 .events = RANK_0 WORK
		BLOCK(1, 04, "", "104001000,104002000,104103000,104003000,104104000")
		SCOPE(05, "06", backwards) SCOPE(06, "07", backwards),
	 .lost = {{LOSS_BACKWARDS, 2}, {LOSS_STAMP_ORDER, 2}, {LOSS_MISSING_STAMP, 1}}},
	{"submissions without work, completions without submission",
	 .events = RANK_0 WORK EDGE_OF(04, "submit", 90, "04") EDGE_OF(05, "submit", 91, "05")
		EDGE_OF(06, "complete", 92, "06"),
	 .lost = {{LOSS_UNMATCHED_SUBMIT, 2}, {LOSS_UNMATCHED_COMPLETE, 1}}},
	{"brackets that differ from those of their block",
	 .events = RANK_0 EDGE_OF(00, "submit", 01, "00") EDGE_OF(01, "complete", 01, "01") WORK,
	 .lost = {{LOSS_BRACKET_DISAGREES, 2}}},

	/* host records */
	{"intervals that only begin",
	 .events = RANK_0
		"1000001000000 1 1 begin name=a\n"
		"1000001000001 1 1 begin name=b\n"
		"1000001000002 1 1 async_begin name=c correlation=1\n"
		"1000001000003 1 1 window edge=0 name=d\n" SCOPE(03, "02", e),
	 .lost = {{LOSS_UNMATCHED_BEGIN, 4}}},
	{"intervals that only end",
	 .events = RANK_0 SCOPE(03, "02", e)
		"1000004000000 1 1 end name=a\n"
		"1000004000002 1 1 async_end name=c correlation=1\n"
		"1000004000003 1 1 window edge=1 name=d\n",
	 .lost = {{LOSS_UNMATCHED_END, 3}}},
	{"attributes without their scope",
	 .events = RANK_0 SCOPE(03, "02", e)
		"1000004000000 1 1 scope_args correlation=77 args=x\n"
		"1000004000001 1 1 op correlation=78 type=MatMul n_cores=4\n"
		"1000004000002 1 1 tensor correlation=78 is_output=1 dims=2x3 dtype=fp16\n",
	 .lost = {{LOSS_UNMATCHED_ARGS, 3}}},
	{"events of the future, of others, and of no sense",
	 .events = RANK_0 SCOPE(03, "02", e)
		"1000004000000 1 1 unknown\n"
		"1000004000001 1 1 unknown\n"
		"1000004000002 1 1 foreign\n"
		"1000004000003 1 1 foreign\n"
		"1000004000004 1 1 foreign\n"
		"1000004000005 1 1 window edge=2 name=w\n",
	 .lost = {{LOSS_UNKNOWN_EVENT, 2}, {LOSS_FOREIGN_EVENT, 3}, {LOSS_MALFORMED, 1}}},

	/* what was asked for; a row that crosses an edge of the time range stays whole */
	{"processes of another recording",
	 .events = STREAM(0, 0) PROCESS(1, 0, mine) PROCESS(2, 1, theirs) STREAM(1, 0)
		SCOPE(03, "02", e)
		"1000004000000 2 2 instant name=a\n"
		"1000004000001 2 2 counter name=b value=1\n",
	 .options = "--session=mine",
	 .lost = {{LOSS_FOREIGN_PROCESS, 3}}},
	{"other ranks", .events = TWO_RANKS, .options = "--ranks=1", .lost = {{LOSS_FILTERED, 6}}},
	{"other jobs", .events = TWO_RANKS, .options = "--jobs=2", .lost = {{LOSS_FILTERED, 6}}},
	{"other times",
	 .events = TWO_RANKS,
	 .options = "--time-range=+0ns,+1500us",
	 .lost = {{LOSS_FILTERED, 4}}},
	{"other names",
	 .events = TWO_RANKS,
	 .options = "--keep=name:^k$",
	 .lost = {{LOSS_FILTERED, 5}}},
	{"names that are not wanted",
	 .events = TWO_RANKS,
	 .options = "--drop=name:launch",
	 .lost = {{LOSS_FILTERED, 2}}},
	{"rows of whole runs",
	 .events = TWO_RANKS,
	 .options = "--drop-globals",
	 .lost = {{LOSS_FILTERED, 1}}},
	{"all rows but the first and its arrow",
	 .events = TWO_RANKS,
	 .options = "--count=1",
	 .lost = {{LOSS_FILTERED, 7}}},

	/* Flex */
	{"Flex: bad events",
	 .files = FLEX(X("a", 1, 2) ",{\"name\":\"b\",\"ph\":\"X\",\"ts\":1},"
		EDGE("i", "c", -4) "," EDGE("?", "d", 4) "," EDGE("s", "arrow", 4) ","
		EDGE("E", "e", 5) "," EDGE("B", "f", 6)),
	 .lost = {{LOSS_MALFORMED, 2}, {LOSS_UNKNOWN_EVENT, 1}, {LOSS_UNMATCHED_END, 1},
		{LOSS_UNMATCHED_BEGIN, 1}, {LOSS_UNUSED, 1}}},
	{"Flex: arrows",
	 .files = FLEX(X("a", 1, 2) "," EDGE("s", "x", 1) "," EDGE("f", "x", 2)),
	 .lost = {{LOSS_UNUSED, 2}}},
	{"Flex: an end before its begin",
	 .files = FLEX(X("a", 1, 2) "," X("b", 9, -5)),
	 .lost = {{LOSS_BACKWARDS, 1}}},
	{"Flex: a file that ends too early",
	 .files = {{"flex.json", "[" X("a", 1, 2) "," X("b", 9, 5) ",{\"name\":\"c"}},
	 .lost = {{LOSS_TRUNCATED_STREAM, 1}, {LOSS_MALFORMED, 1}}},
	{"Flex and torch of one run",
	 .files = {{"a.json", "[" X("AIU Roundtrip", 100, 50) ","
			FLEX_KERNEL("k", 110, 1) "," FLEX_KERNEL("l", 120, 2) "]"},
		{"b.json", TORCH(TORCH_CALL("aiuSuperNodeExecution", 5100, 50) ","
			TORCH_KERNEL("k Cmpt Exec", 5110) "," TORCH_KERNEL("other", 5140))}},
	 .lost = {{LOSS_DUPLICATE, 2}}},

	/* torch */
	{"torch: bad events",
	 .files = {{"a.json", TORCH(TORCH_KERNEL("k", 10) "," TORCH_KERNEL("l", -10)
			",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"m\",\"ts\":1}")}},
	 .options = "--as=torch",
	 .lost = {{LOSS_MALFORMED, 2}}},

	/* AI engines */
	{"AIE: a start and an end that are missing, one that is told twice",
	 .files = {{"tile2,1.json", "[" TILE START(100) STOP(172) START(300)
			START(500) STOP(572) STOP(580) STOP(772) "]"}},
	 .lost = {{LOSS_UNMATCHED_BEGIN, 1}, {LOSS_UNMATCHED_END, 1}, {LOSS_DUPLICATE, 1}}},
	{"AIE: bad events",
	 .files = {{"tile2,1.json", "[" TILE START(100) STOP(172)
			STATE("B", "LOCK_STALL", -1, 7) STATE("X", "LOCK_STALL", 5, 7) ",17]"}},
	 .lost = {{LOSS_MALFORMED, 2}, {LOSS_UNKNOWN_EVENT, 1}}},
	{"Perfetto: a packet that was dropped",
	 .files = {{"a.pftrace", PACKET("\x05", "\xd0\x02\x01")
			PACKET("\x08", "\x40\x05\x5a\x02\x48\x01")
			PACKET("\x08", "\x40\x09\x5a\x02\x48\x02")}},
	 .lost = {{LOSS_LOST_PACKETS, 1}}},
	{"AIE: a file that ends too early",
	 .files = {{"tile2,1.json", "[" TILE START(100) STOP(172) ",{\"name\":\"LOCK"}},
	 .lost = {{LOSS_TRUNCATED_STREAM, 1}, {LOSS_MALFORMED, 1}}},

	/* device logs of tt-metal */
	{"tt-metal: a bad row, and one that ends too early",
	 .files = {{LOG_NAME, LOG LOG_RUN "0, 0, 0, , 2, 5\n0, 0, 0, BRISC, 2"}},
	 .lost = {{LOSS_MALFORMED, 2}, {LOSS_TRUNCATED_STREAM, 1}}},
	{.name = NULL},
};
