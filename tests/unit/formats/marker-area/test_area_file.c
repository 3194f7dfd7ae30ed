/* SPDX-License-Identifier: Apache-2.0 */
#include "drain_fixture.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/kit/format.h"
#include "formats/marker-area/area_file.h"
#include "scratch.h"

#define CAPACITY 8u
#define AREA     ((size_t)FLEXTRACE_WIRE_AREA_BYTES(CAPACITY))
#define WINDOW   ((size_t)1 << 20)

static char *dir;
static char path[256];
static struct area_list list;

static int set_up(void **state)
{
	(void)state;
	dir = scratch_dir();
	snprintf(path, sizeof(path), "%s/area.bin", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

static void write_file(const void *bytes, size_t n_bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

static void find_all(void)
{
	struct flextrace_error error;

	list = (struct area_list){.n = 0};
	assert_int_equal(area_list_add(&list, path, &error), 0);
}

/* -- what comes out of an area ---------------------------------------------------------------- */

struct taken {
	uint64_t first, n_words, n_slots, last_run, dropped;
};

static void take(void *context, const struct flextrace_marker_batch *batch)
{
	struct taken *taken = context;

	if (batch->n_words && batch->words[0] >> 60 >= FLEXTRACE_WIRE_SLOT_RUN) {
		for (uint32_t i = 0; i < batch->n_words; i++)
			taken->n_slots += batch->words[i] >> 60 == FLEXTRACE_WIRE_SLOT_RUN;
		taken->last_run = batch->first_index;
		return;
	}
	if (taken->n_words == 0)
		taken->first = batch->first_index;
	taken->n_words += batch->n_words;
	taken->dropped = batch->dropped;
}

static struct taken read_area(uint32_t i)
{
	struct taken taken = {0};
	const struct flextrace_area_reader reader = {.emit = take, .context = &taken, .is_last = 1};
	struct flextrace_drain_area drained;
	struct flextrace_error error;

	assert_int_equal(area_load(&list.areas[i], &drained, &error), 0);
	flextrace_area_read(&drained, &reader);
	free(drained.memory);
	return taken;
}

static struct taken read_dump(void)
{
	struct taken taken;

	write_file(wire, AREA);
	find_all();
	assert_int_equal(list.n, 1);
	taken = read_area(0);
	area_list_release(&list);
	return taken;
}

/* -- one area --------------------------------------------------------------------------------- */

static void test_area_file__reads_what_no_host_has_read(void **state)
{
	struct taken taken;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	one_run(7);
	marks(3);
	taken = read_dump();
	assert_int_equal(taken.first, 0);
	assert_int_equal(taken.n_words, 4);
	assert_int_equal(taken.n_slots, 1);
}

/* What a host has taken is still there until firmware writes over it. */
static void test_area_file__reads_what_a_host_has_read(void **state)
{
	struct taken taken;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	for (int i = 0; i < 5; i++) {
		one_run(7);
		marks(2);
		drain(0);
	}
	taken = read_dump();
	assert_int_equal(taken.first, 15 - CAPACITY);
	assert_int_equal(taken.n_words, CAPACITY);
	assert_int_equal(taken.n_slots, 2);
	assert_int_equal(taken.last_run, 4);
}

static void test_area_file__reads_an_overwritten_ring(void **state)
{
	struct taken taken;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_OVERWRITE);
	marks(100);
	taken = read_dump();
	assert_int_equal(taken.first, 100 - CAPACITY);
	assert_int_equal(taken.n_words, CAPACITY);
}

static void test_area_file__tells_what_firmware_dropped(void **state)
{
	struct taken taken;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(100);
	taken = read_dump();
	assert_int_equal(taken.n_words, CAPACITY);
	assert_int_equal(taken.dropped, 100 - CAPACITY);
}

/* Counts of the ring wrap; so does what a host has read. */
static void test_area_file__reads_over_a_wrap_of_the_counts(void **state)
{
	struct taken taken;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(CAPACITY);
	SET(wire->head, 3);
	SET(wire->limit, 2 + CAPACITY - 5);
	taken = read_dump();
	assert_int_equal((uint32_t)taken.first, 3 - CAPACITY);
	assert_int_equal(taken.n_words, CAPACITY);
}

/* A runtime that saves what it has mapped: more than the area is, with one not set up yet. */
static void test_area_file__reads_what_a_runtime_saved(void **state)
{
	static uint64_t nothing[1000];
	struct flextrace_drain_area areas[3];

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(3);
	flextrace_drain_area_init(&areas[0], 0, nothing, sizeof(nothing));
	flextrace_drain_area_init(&areas[1], 0, NULL, 8);
	flextrace_drain_area_init(&areas[2], 0, &memory, sizeof(memory) - 3);
	assert_int_equal(flextrace_drain_save(areas, 3, path), 0);
	find_all();
	assert_int_equal(list.n, 1);
	assert_int_equal(list.areas[0].offset_bytes, sizeof(nothing));
	assert_int_equal(read_area(0).n_words, 3);
	area_list_release(&list);
	assert_int_equal(GET(wire->limit), CAPACITY); /* the device's own is as it was */
	assert_true(flextrace_drain_save(areas, 3, "/nowhere/at/all") < 0);
	assert_true(flextrace_drain_save(areas, 3, "/dev/full") < 0);
}

/* What stood there might be open to others, or a pipe that nobody reads. */
static void test_area_file__a_runtime_saves_for_its_user_alone(void **state)
{
	struct flextrace_drain_area saved;
	struct stat status;

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	flextrace_drain_area_init(&saved, 0, &memory, sizeof(memory));
	assert_int_equal(remove(path), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(flextrace_drain_save(&saved, 1, path), 0);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode, S_IFREG | 0600);
		assert_int_equal(chmod(path, 0666), 0);
	}
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(flextrace_drain_save(&saved, 1, path), -ENXIO);
	assert_int_equal(remove(path), 0);
}

/* -- where areas are -------------------------------------------------------------------------- */

static void test_area_file__finds_areas_wherever_they_begin(void **state)
{
	static const size_t places[] = {0,
	                                8,
	                                4096,
	                                WINDOW - 8,
	                                WINDOW - FLEXTRACE_WIRE_RING_OFFSET,
	                                WINDOW,
	                                2 * WINDOW + 8};
	size_t n_bytes = 3 * WINDOW;
	uint8_t *bytes = malloc(n_bytes);

	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(3);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		memset(bytes, 0x5a, n_bytes);
		memcpy(bytes + places[i], wire, AREA);
		write_file(bytes, n_bytes);
		find_all();
		assert_int_equal(list.n, 1);
		assert_int_equal(list.areas[0].offset_bytes, places[i]);
		assert_false(list.areas[0].is_cut);
		assert_int_equal(read_area(0).n_words, 3);
		area_list_release(&list);
	}
	free(bytes);
}

static void test_area_file__equal_cores_are_of_different_devices(void **state)
{
	static const uint32_t cores[] = {0, 1, 0, 0, 1, 2};
	static const uint32_t devices[] = {0, 0, 1, 2, 1, 0};
	uint8_t bytes[6 * FLEXTRACE_WIRE_AREA_BYTES(8)];

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		boot(CAPACITY, FLEXTRACE_WIRE_STOP);
		SET(wire->core, cores[i]);
		memcpy(bytes + i * AREA, wire, AREA);
	}
	write_file(bytes, sizeof(bytes));
	find_all();
	assert_int_equal(list.n, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(list.areas[i].device, devices[i]);
	area_list_release(&list);
}

/* Of a layout of before, with a larger ring that reaches over the areas of now. */
static void test_area_file__a_stale_header_hides_no_area(void **state)
{
	static uint32_t words[3000];
	uint8_t *bytes = (uint8_t *)words;
	const size_t places[] = {0x160, 0x400, 0x1000};

	(void)state;
	for (uint32_t head = 0; head <= 2000; head += 2000) {
		memset(words, 0, sizeof(words));
		boot(1024, FLEXTRACE_WIRE_STOP);
		SET(wire->head, head);
		SET(wire->dropped, 5);
		memcpy(bytes, wire, FLEXTRACE_WIRE_RING_OFFSET);
		for (uint32_t i = 0; i < 3; i++) {
			boot(CAPACITY, FLEXTRACE_WIRE_STOP);
			marks(3 + i);
			memcpy(bytes + places[i], wire, AREA);
		}
		write_file(words, sizeof(words));
		find_all();
		assert_int_equal(list.n, 4);
		assert_int_equal(list.n_inside, 3);
		assert_int_equal(list.n_refused, 0);
		assert_int_equal(list.n_cut, head != 0);
		assert_int_equal(list.areas[0].inner_bytes, head ? places[0] : 0);
		assert_int_equal(read_area(0).n_words, 0);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(list.areas[i + 1].offset_bytes, places[i]);
			assert_int_equal(read_area(i + 1).n_words, 3 + i);
		}
		area_list_release(&list);
	}
}

/* A header that the ring has not grown over yet. */
static void test_area_file__a_stale_header_in_free_room_costs_nothing(void **state)
{
	static union {
		struct flextrace_wire_area wire;
		uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(1024)];
	} large;

	(void)state;
	boot(1024, FLEXTRACE_WIRE_STOP);
	marks(20);
	memcpy(&large, wire, sizeof(large));
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	memcpy(large.bytes + 0x160 + 8 * 20, wire, AREA);
	write_file(&large, sizeof(large));
	find_all();
	assert_int_equal(list.n, 2);
	assert_int_equal(list.n_inside, 1);
	assert_int_equal(list.n_cut, 0);
	assert_int_equal(read_area(0).n_words, 20);
	area_list_release(&list);
}

/* -- damage ----------------------------------------------------------------------------------- */

static void test_area_file__every_truncation_is_told(void **state)
{
	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	one_run(7);
	marks(3);
	for (size_t n = 0; n <= AREA; n++) {
		write_file(wire, n);
		find_all();
		assert_int_equal(list.n, n >= FLEXTRACE_WIRE_RING_OFFSET);
		assert_int_equal(list.n_cut, list.n && n < AREA);
		assert_int_equal(list.n_refused, n >= 4 && !list.n); /* the magic is there */
		if (list.n) {
			assert_int_equal(read_area(0).n_slots, 1);
			assert_int_equal(read_area(0).n_words, n == AREA ? 4 : 0);
		}
		area_list_release(&list);
	}
}

static void test_area_file__areas_that_contradict_themselves_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{offsetof(struct flextrace_wire_area, version), 2},
		{offsetof(struct flextrace_wire_area, capacity), 0},
		{offsetof(struct flextrace_wire_area, capacity), 7},
		{offsetof(struct flextrace_wire_area, capacity), 0x80000000u},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		boot(CAPACITY, FLEXTRACE_WIRE_STOP);
		SET(*(uint32_t *)(void *)(memory.bytes + cases[i].offset), cases[i].value);
		write_file(wire, AREA);
		find_all();
		assert_int_equal(list.n, 0);
		assert_int_equal(list.n_refused, 1);
		area_list_release(&list);
	}
}

/* Any words at all behind a header that is one. */
struct told {
	uint32_t n;
	char last[1024];
};

static void tell(void *context, const char *text)
{
	struct told *told = context;

	told->n++;
	snprintf(told->last, sizeof(told->last), "%s", text);
}

static void test_area_file__many_that_are_refused_are_told_in_a_few_lines(void **state)
{
	uint32_t words[200];
	struct told told = {0};
	struct flextrace_error error;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		words[i] = i % 2 ? 0 : htole32(FLEXTRACE_WIRE_MAGIC);
	write_file(words, sizeof(words));
	list = (struct area_list){.warn = tell, .context = &told};
	assert_int_equal(area_list_add(&list, path, &error), 0);
	assert_int_equal(list.n_refused, 100);
	assert_int_equal(told.n, 17);
	assert_non_null(strstr(told.last, "There is more of this: file="));
	assert_non_null(strstr(told.last, "areas=84"));
	area_list_release(&list);
}

static void test_area_file__random_areas_do_no_harm(void **state)
{
	uint32_t *words = (uint32_t *)(void *)memory.bytes;

	(void)state;
	srand(1);
	for (int round = 0; round < 500; round++) {
		struct taken taken;

		boot(CAPACITY, FLEXTRACE_WIRE_STOP);
		for (size_t i = 7; i < AREA / 4; i++) {
			if (rand() % 2)
				words[i] = (uint32_t)rand() * 2u + (uint32_t)rand() % 2u;
		}
		taken = read_dump();
		assert_true(taken.n_words <= CAPACITY);
		assert_true(taken.n_slots <= 2);
	}
}

static bool is_area(const char *of)
{
	struct probe probe;

	assert_int_equal(probe_file(of, &probe), 0);
	return import_marker_areas.probe(&probe);
}

static void test_area_file__what_is_no_file_is_refused(void **state)
{
	struct flextrace_error error;

	(void)state;
	list = (struct area_list){.n = 0};
	assert_int_equal(area_list_add(&list, "/nowhere", &error), FLEXTRACE_E_INPUT);
	assert_int_equal(area_list_add(&list, dir, &error), FLEXTRACE_E_INPUT);
	assert_false(is_area(dir));
	write_file("", 0);
	assert_false(is_area(path));
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	write_file(wire, AREA);
	assert_true(is_area(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_area_file__reads_what_no_host_has_read),
		cmocka_unit_test(test_area_file__reads_what_a_host_has_read),
		cmocka_unit_test(test_area_file__reads_an_overwritten_ring),
		cmocka_unit_test(test_area_file__tells_what_firmware_dropped),
		cmocka_unit_test(test_area_file__reads_over_a_wrap_of_the_counts),
		cmocka_unit_test(test_area_file__reads_what_a_runtime_saved),
		cmocka_unit_test(test_area_file__a_runtime_saves_for_its_user_alone),
		cmocka_unit_test(test_area_file__finds_areas_wherever_they_begin),
		cmocka_unit_test(test_area_file__equal_cores_are_of_different_devices),
		cmocka_unit_test(test_area_file__a_stale_header_hides_no_area),
		cmocka_unit_test(test_area_file__a_stale_header_in_free_room_costs_nothing),
		cmocka_unit_test(test_area_file__every_truncation_is_told),
		cmocka_unit_test(test_area_file__areas_that_contradict_themselves_are_refused),
		cmocka_unit_test(test_area_file__many_that_are_refused_are_told_in_a_few_lines),
		cmocka_unit_test(test_area_file__random_areas_do_no_harm),
		cmocka_unit_test(test_area_file__what_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
