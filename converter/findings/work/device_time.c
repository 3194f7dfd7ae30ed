/* SPDX-License-Identifier: Apache-2.0 */
#include "device_time.h"

#include <stdlib.h>

#include "base/intervals/sweep.h"
#include "table_places.h"

#define MAX_BUCKETS 400

/* What a device needs from one kernel to the next where both are launched: that of HTA. */
#define KERNEL_DELAY_NS 30000

struct device_sweep {
	struct sweep sweep;
	const struct device_row *before; /* weak: the work so far that ended last */
	uint32_t launch;                 /* of the work that is about to begin */
	uint32_t device, process;        /* indexes */
	struct time_reader *reader;      /* weak */
};

struct time_reader {
	struct device_times *times; /* weak, both */
	const struct timeline *timeline;
	struct work_reader works;
	struct table_places host_rows;
	struct device_sweep *devices; /* owned: by struct device */
	int64_t *reach_time_ns;       /* owned: by process: where its host rows so far end */
};

/* -- buckets ----------------------------------------------------------------------------------- */

/* The narrowest of 1, 2, 5, 10, ... ns that cut the run into few enough. */
static uint64_t choose_width_ns(uint64_t run_ns)
{
	static const uint64_t digits[] = {1, 2, 5};

	for (uint64_t tens = 1;; tens *= 10) {
		for (int i = 0; i < 3; i++) {
			if ((run_ns - 1) / MAX_BUCKETS < digits[i] * tens)
				return digits[i] * tens;
		}
	}
}

static void add(const struct time_reader *reader, uint32_t process, int part, int64_t start_time_ns,
                int64_t end_time_ns)
{
	struct device_times *times = reader->times;
	uint64_t from = interval_ns(reader->timeline->first_time_ns, start_time_ns);
	uint64_t to = interval_ns(reader->timeline->first_time_ns, end_time_ns);
	uint64_t width_ns = times->width_ns;
	struct time_bucket *buckets = &times->buckets[(uint64_t)process * times->n_buckets];

	for (uint64_t i = from / width_ns; from < to; i++) {
		uint64_t until = to - i * width_ns > width_ns ? (i + 1) * width_ns : to;

		buckets[i].ns[part] += until - from;
		from = until;
	}
	times->is_there[process] = true;
}

/* What a program named to tell phases apart says nothing of what it did. */
static void take_host_row(const struct time_reader *reader, const struct host_row *row)
{
	const struct timeline *timeline = reader->timeline;
	const struct track *track = &timeline->tracks[row->track];
	uint32_t process = timeline->identity->threads[track->owner].process;
	int64_t *reach_ns = &reader->reach_time_ns[process];
	int64_t from_ns = row->start_time_ns > *reach_ns ? row->start_time_ns : *reach_ns;

	if (track->kind != TRACK_THREAD || row->kind == HOST_STEP || row->kind == HOST_WINDOW ||
	    row->end_time_ns <= from_ns)
		return;
	add(reader, process, BUCKET_HOST, from_ns, row->end_time_ns);
	*reach_ns = row->end_time_ns;
}

/* -- devices ----------------------------------------------------------------------------------- */

/* Whether an error of the times could have made another cause of it. */
static bool is_unsure(const struct device_row *before, uint64_t distance_ns)
{
	if (before->err_ns == UINT32_MAX)
		return before->status != TIME_GIVEN;
	return distance_ns <= before->err_ns;
}

/* Causes of idle time are those of Holistic Trace Analysis (_get_idle_time_for_kernels()), with the
 * device in the place of its stream: a gap between two kernels of a stream in which another one
 * works is no idle time of the device. What launched the next work is that of the longest of those
 * that begin then. */
static void count_idle(struct device_time *time, const struct device_sweep *device, int64_t from_ns,
                       uint64_t ns)
{
	enum device_time_part cause = ns < KERNEL_DELAY_NS ? SPENT_KERNEL_WAIT : SPENT_OTHER_IDLE;
	const struct host_row *launch;
	int64_t launched_ns;

	if (device->launch == FLEXTRACE_NONE) {
		time->ns[SPENT_OTHER_IDLE] += ns;
		return;
	}
	launch = table_at(&device->reader->host_rows, device->launch);
	launched_ns = launch->start_time_ns;
	time->ns[launched_ns > from_ns ? SPENT_HOST_WAIT : cause] += ns;
	if (is_unsure(device->before, launched_ns > from_ns ? interval_ns(from_ns, launched_ns)
	                                                    : interval_ns(launched_ns, from_ns)))
		time->ns[SPENT_UNSURE_IDLE] += ns;
}

static void take_stretch(void *context, int64_t start_ns, int64_t end_ns, uint32_t mask)
{
	const struct device_sweep *device = context;
	struct device_time *time = &device->reader->times->devices[device->device];
	uint64_t ns = interval_ns(start_ns, end_ns);
	int exposed = mask ? __builtin_ctz(mask) : BUCKET_IDLE;

	if (!time->n++)
		time->first_time_ns = start_ns;
	time->last_time_ns = end_ns;
	time->ns[mask] += ns;
	add(device->reader, device->process, exposed, start_ns, end_ns);
	if (!mask)
		count_idle(time, device, start_ns, ns);
}

static void take_work(struct time_reader *reader, const struct work *work)
{
	struct device_sweep *device = &reader->devices[work->device];
	const struct device_row *row = work->row;

	if (!device->before) {
		device->reader = reader;
		device->before = row;
		device->process = work->process;
		device->device = work->device;
		sweep_begin(&device->sweep, row->start_time_ns, take_stretch, device);
	}
	device->launch = work->launch;
	sweep_add(&device->sweep, row->start_time_ns, row->end_time_ns, work->class);
	if (row->end_time_ns > device->before->end_time_ns)
		device->before = row;
}

/* What follows from the sets of classes. */
static void sum_up(struct device_time *time)
{
	for (uint32_t mask = 0; mask < SPENT_WALL; mask++) {
		uint64_t ns = time->ns[mask];

		time->ns[SPENT_WALL] += ns;
		if (!mask)
			continue;
		time->ns[SPENT_BUSY] += ns;
		time->ns[SPENT_EXPOSED + __builtin_ctz(mask)] += ns;
		for (int class = 0; class < WORK_CLASS_COUNT; class ++)
			time->ns[SPENT_CLASS + class] += mask & 1u << class ? ns : 0;
	}
}

/* -- all --------------------------------------------------------------------------------------- */

static int read_all(struct time_reader *reader)
{
	const struct timeline *timeline = reader->timeline;
	struct work work;
	int code;

	FLEXTRACE_TRY(work_read(&reader->works, timeline));
	FLEXTRACE_TRY(table_places_init(&reader->host_rows, &timeline->host_rows,
	                                sizeof(struct host_row)));
	while ((code = work_next(&reader->works, &work)) > 0)
		take_work(reader, &work);
	for (uint32_t i = 0; i < timeline->identity->n_devices; i++) {
		struct device_sweep *device = &reader->devices[i];

		if (device->before)
			sweep_end(&device->sweep, device->before->end_time_ns);
		sum_up(&reader->times->devices[i]);
	}
	TABLE_EACH(struct host_row, row, &timeline->host_rows)
		take_host_row(reader, row);
	return code;
}

static int make(struct time_reader *reader)
{
	const struct timeline *timeline = reader->timeline;
	struct device_times *times = reader->times;
	uint64_t run_ns = interval_ns(timeline->first_time_ns, timeline->last_time_ns);
	uint64_t n_devices = timeline->identity->n_devices;
	uint64_t n_processes = timeline->identity->n_processes;

	times->devices = calloc(n_devices + 1, sizeof(*times->devices));
	if (!run_ns)
		return times->devices ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	times->width_ns = choose_width_ns(run_ns);
	times->n_buckets = (uint32_t)((run_ns - 1) / times->width_ns + 1);
	times->buckets = calloc(n_processes * times->n_buckets + 1, sizeof(*times->buckets));
	times->is_there = calloc(n_processes + 1, sizeof(*times->is_there));
	reader->devices = calloc(n_devices + 1, sizeof(*reader->devices));
	reader->reach_time_ns = malloc((n_processes + 1) * sizeof(int64_t));
	if (!times->devices || !times->buckets || !times->is_there || !reader->devices ||
	    !reader->reach_time_ns)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n_processes; i++)
		reader->reach_time_ns[i] = INT64_MIN;
	return read_all(reader);
}

int device_times_borrow(const struct device_times **ret, const struct findings *findings)
{
	struct device_times *times = findings->device_times;
	struct time_reader reader = {.times = times, .timeline = findings->timeline};
	int code = FLEXTRACE_OK;

	*ret = times;
	if (!times->is_made)
		code = make(&reader);
	if (code < 0)
		device_times_release(times);
	times->is_made = code == FLEXTRACE_OK;
	work_release(&reader.works);
	table_places_release(&reader.host_rows);
	free(reader.devices);
	free(reader.reach_time_ns);
	return code;
}

void device_times_release(struct device_times *times)
{
	free(times->devices);
	free(times->buckets);
	free(times->is_there);
	*times = (struct device_times){0};
}
