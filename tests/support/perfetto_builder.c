/* SPDX-License-Identifier: Apache-2.0 */
#include "perfetto_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* -- packets ---------------------------------------------------------------------------------- */

void begin_packet(trace *to, uint64_t flags)
{
	protobuf_open(to, TRACE_PACKET);
	protobuf_put_number(to, PACKET_SEQUENCE_ID, 1);
	if (flags)
		protobuf_put_number(to, PACKET_SEQUENCE_FLAGS, flags);
}

void put_clock(trace *to, uint64_t id, uint64_t time)
{
	protobuf_open(to, SNAPSHOT_CLOCKS);
	protobuf_put_number(to, CLOCK_ID, id);
	protobuf_put_number(to, CLOCK_TIMESTAMP, time);
	protobuf_close(to);
}

static void put_snapshot(trace *to)
{
	begin_packet(to, 0);
	protobuf_open(to, PACKET_CLOCK_SNAPSHOT);
	put_clock(to, CLOCK_REALTIME_ID, REAL_NS);
	put_clock(to, CLOCK_BOOTTIME_ID, BOOT_NS);
	protobuf_close(to);
	protobuf_close(to);
}

void begin_track(trace *to, uint64_t uuid, uint64_t parent)
{
	begin_packet(to, 0);
	protobuf_open(to, PACKET_TRACK_DESCRIPTOR);
	protobuf_put_number(to, DESCRIPTOR_UUID, uuid);
	if (parent)
		protobuf_put_number(to, DESCRIPTOR_PARENT_UUID, parent);
}

void end_track(trace *to)
{
	protobuf_close(to);
	protobuf_close(to);
}

static void put_tracks(trace *to)
{
	begin_track(to, PROCESS_UUID, 0);
	protobuf_open(to, DESCRIPTOR_PROCESS);
	protobuf_put_number(to, PROCESS_PID, PID);
	protobuf_put_text(to, PROCESS_NAME, "server");
	protobuf_close(to);
	end_track(to);
	begin_track(to, THREAD_UUID, PROCESS_UUID);
	protobuf_open(to, DESCRIPTOR_THREAD);
	protobuf_put_number(to, THREAD_PID, PID);
	protobuf_put_number(to, THREAD_TID, TID);
	protobuf_put_text(to, THREAD_NAME, "worker");
	protobuf_close(to);
	end_track(to);
	begin_track(to, NAMED_UUID, PROCESS_UUID);
	protobuf_put_text(to, DESCRIPTOR_NAME, "requests");
	end_track(to);
}

void begin_event(trace *to, uint64_t ns, uint64_t type, uint64_t track)
{
	begin_packet(to, 0);
	protobuf_put_number(to, PACKET_TIMESTAMP, BOOT_NS + ns);
	protobuf_open(to, PACKET_TRACK_EVENT);
	protobuf_put_number(to, TRACK_EVENT_TYPE, type);
	protobuf_put_number(to, TRACK_EVENT_TRACK_UUID, track);
}

void end_event(trace *to)
{
	protobuf_close(to);
	protobuf_close(to);
}

void put_begin(trace *to, uint64_t ns, uint64_t track, const char *name)
{
	begin_event(to, ns, TYPE_SLICE_BEGIN, track);
	protobuf_put_text(to, TRACK_EVENT_NAME, name);
	end_event(to);
}

void put_end(trace *to, uint64_t ns, uint64_t track)
{
	begin_event(to, ns, TYPE_SLICE_END, track);
	end_event(to);
}

trace *start(void)
{
	static trace of;

	of.n = 0;
	of.n_open = 0;
	put_snapshot(&of);
	put_tracks(&of);
	return &of;
}

/* -- runs ------------------------------------------------------------------------------------- */

struct flex_run *convert_bytes(void **state, const char *name, const void *bytes, size_t n)
{
	struct flex_run *run = *state;
	const char *paths[1];
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", run->in, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	paths[0] = path;
	flex_convert_files(run, paths, 1);
	return run;
}

struct flex_run *convert(void **state, const trace *of)
{
	return convert_bytes(state, "a.pftrace", of->bytes, of->n);
}

uint64_t lost(const struct flex_run *run, enum loss_cause cause)
{
	return ledger_total(&run->ledger, cause);
}

void put_arg(trace *to, const char *key, uint32_t field, uint64_t value)
{
	protobuf_open(to, TRACK_EVENT_ANNOTATIONS);
	protobuf_put_text(to, ANNOTATION_NAME, key);
	protobuf_put_number(to, field, value);
	protobuf_close(to);
}

static void put_interned(trace *to, uint32_t field, uint64_t iid, const char *text)
{
	protobuf_open(to, field);
	protobuf_put_number(to, TEXT_IID, iid);
	protobuf_put_text(to, TEXT_TEXT, text);
	protobuf_close(to);
}

void put_interned_begin(trace *to, uint64_t ns, uint64_t flags, bool has_data)
{
	begin_packet(to, flags);
	protobuf_put_number(to, PACKET_TIMESTAMP, BOOT_NS + ns);
	if (has_data) {
		protobuf_open(to, PACKET_INTERNED_DATA);
		put_interned(to, INTERNED_NAMES, 5, "softmax");
		put_interned(to, INTERNED_CATEGORIES, 5, "math");
		put_interned(to, INTERNED_KEYS, 5, "shape");
		put_interned(to, INTERNED_STRINGS, 5, "2x\"3");
		protobuf_close(to);
	}
	protobuf_open(to, PACKET_TRACK_EVENT);
	protobuf_put_number(to, TRACK_EVENT_TYPE, TYPE_SLICE_BEGIN);
	protobuf_put_number(to, TRACK_EVENT_TRACK_UUID, THREAD_UUID);
	protobuf_put_number(to, TRACK_EVENT_NAME_IID, 5);
	protobuf_put_number(to, TRACK_EVENT_CATEGORY_IIDS, 5);
	protobuf_open(to, TRACK_EVENT_ANNOTATIONS);
	protobuf_put_number(to, ANNOTATION_NAME_IID, 5);
	protobuf_put_number(to, ANNOTATION_STRING_IID, 5);
	protobuf_close(to);
	end_event(to);
}

void put_legacy(trace *to, uint64_t ns, uint64_t phase, uint64_t id, uint64_t dur_us)
{
	begin_event(to, ns, 0, THREAD_UUID);
	protobuf_put_text(to, TRACK_EVENT_NAME, "old");
	protobuf_open(to, TRACK_EVENT_LEGACY);
	protobuf_put_number(to, LEGACY_PHASE, phase);
	if (id)
		protobuf_put_number(to, LEGACY_UNSCOPED_ID, id);
	if (dur_us)
		protobuf_put_number(to, LEGACY_DURATION_US, dur_us);
	protobuf_close(to);
	end_event(to);
}
