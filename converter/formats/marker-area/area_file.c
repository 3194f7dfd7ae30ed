/* SPDX-License-Identifier: Apache-2.0 */
#include "area_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "flextrace/wire.h"

#define WINDOW_BYTES ((size_t)1 << 20)
#define HEAD_BYTES   ((size_t)FLEXTRACE_WIRE_RING_OFFSET) /* header, slots: all but the ring */
#define ALIGNMENT    8u
#define MAX_TOLD     16u /* what is wrong with a file, one by one */
#define MAX_CLAIMS   16u /* areas inside each other that are looked at */

struct area_file {
	const char *path; /* weak */
	int fd;           /* owned */
	uint64_t n_bytes;
	uint64_t *window; /* owned */
	uint64_t n_told;
	uint32_t claims[MAX_CLAIMS]; /* areas of the list that claim where the scan is */
	uint32_t n_claims;
};

/* -- files ----------------------------------------------------------------------------------- */

static int fail(const char *path, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT, "Cannot read file: path=%s, reason=%s", path,
	                 strerror(errno));
}

static int open_file(const char *path, struct area_file *file, struct flextrace_error *error)
{
	struct stat status;

	*file = (struct area_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0)
		return fail(path, error);
	if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode)) {
		file->n_bytes = (uint64_t)status.st_size;
		return FLEXTRACE_OK;
	}
	(void)close(file->fd);
	return error_set(error, FLEXTRACE_E_INPUT, "It is no file of memory: path=%s", path);
}

/* A file that got shorter meanwhile reads as zeros. */
static int read_at(const struct area_file *file, uint64_t offset, void *to, size_t n_bytes,
                   struct flextrace_error *error)
{
	char *at = to;

	memset(to, 0, n_bytes);
	while (n_bytes) {
		ssize_t n = pread(file->fd, at, n_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(file->path, error);
		if (n == 0)
			break;
		at += n;
		offset += (uint64_t)n;
		n_bytes -= (size_t)n;
	}
	return FLEXTRACE_OK;
}

/* -- finding --------------------------------------------------------------------------------- */

static void warn(const struct area_list *list, struct area_file *file, uint64_t offset,
                 const char *what)
{
	char text[1024];

	if (!list->warn || file->n_told++ >= MAX_TOLD)
		return;
	snprintf(text, sizeof(text), "%s: file=%s, byte=%" PRIu64, what, file->path, offset);
	list->warn(list->context, text);
}

static void warn_of_rest(const struct area_list *list, const struct area_file *file)
{
	char text[1024];

	if (file->n_told <= MAX_TOLD)
		return;
	snprintf(text, sizeof(text), "There is more of this: file=%s, areas=%" PRIu64, file->path,
	         file->n_told - MAX_TOLD);
	list->warn(list->context, text);
}

static int refuse(struct area_list *list, struct area_file *file, uint64_t offset, const char *what)
{
	list->n_refused++;
	warn(list, file, offset, what);
	return FLEXTRACE_OK;
}

static int number_device(struct area_list *list, struct dumped_area *area)
{
	uint32_t n = map_find(&list->devices, area->header.core, area->header.processor);

	area->device = n == MAP_NONE ? 0 : n;
	return map_put(&list->devices, area->header.core, area->header.processor, area->device + 1);
}

/* Bytes of an area up to the end of the records that were written. */
static uint64_t written_bytes(const struct flextrace_area_header *header)
{
	uint32_t n = flextrace_area_n_there(header);

	return FLEXTRACE_WIRE_AREA_BYTES((uint64_t)n);
}

static void cut(struct area_list *list, struct dumped_area *area)
{
	list->n_cut += !area->is_cut;
	area->is_cut = true;
}

/* Takes note of an area inside of what others claim. Records that these wrote would have destroyed
 * its header. */
static void note_inner(struct area_list *list, struct area_file *file, uint64_t offset)
{
	list->n_inside += file->n_claims > 0;
	if (file->n_claims)
		warn(list, file, offset,
		     "A marker area begins inside of what another one claims; one of them is "
		     "stale");
	for (uint32_t i = 0; i < file->n_claims; i++) {
		struct dumped_area *outer = &list->areas[file->claims[i]];

		if (outer->inner_bytes ||
		    offset - outer->offset_bytes >= written_bytes(&outer->header))
			continue;
		outer->inner_bytes = offset;
		cut(list, outer);
	}
}

static void leave_claims(const struct area_list *list, struct area_file *file, uint64_t offset)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < file->n_claims; i++) {
		const struct dumped_area *area = &list->areas[file->claims[i]];

		if (offset < area->offset_bytes + area->header.n_bytes)
			file->claims[n++] = file->claims[i];
	}
	file->n_claims = n;
}

/* Takes what begins as an area. What only begins so inside of another one is a record of that. */
static int take(struct area_list *list, struct area_file *file, uint64_t offset, const void *head)
{
	struct dumped_area area = {.path = file->path, .offset_bytes = offset};
	uint64_t n_left = file->n_bytes - offset;

	flextrace_area_header_read(head, &area.header);
	leave_claims(list, file, offset);
	if (file->n_claims && area.header.n_bytes == 0)
		return FLEXTRACE_OK;
	if (area.header.n_bytes == 0)
		return refuse(list, file, offset, "A marker area contradicts itself, skipping");
	if (n_left < HEAD_BYTES)
		return refuse(list, file, offset, "The file ends inside a marker area, skipping");
	note_inner(list, file, offset);
	if (n_left < area.header.n_bytes) {
		cut(list, &area);
		warn(list, file, offset, "The file ends inside the ring of a marker area");
	}
	if (file->n_claims < MAX_CLAIMS)
		file->claims[file->n_claims++] = list->n;
	FLEXTRACE_TRY(number_device(list, &area));
	return ARRAY_PUSH(list->areas, list->n, area);
}

static size_t find(const uint64_t *window, size_t from, size_t n_words)
{
	struct flextrace_area_header header;

	while (from < n_words && !flextrace_area_header_read(window + from, &header))
		from++;
	return from;
}

/* Takes the areas that begin in a window; stores where the next one does. */
static int scan_window(struct area_list *list, struct area_file *file, uint64_t offset,
                       uint64_t *ret_next)
{
	size_t n_words = (WINDOW_BYTES - HEAD_BYTES) / sizeof(uint64_t);
	size_t at = find(file->window, 0, n_words);

	while (at < n_words) {
		FLEXTRACE_TRY(take(list, file, offset + at * sizeof(uint64_t), file->window + at));
		at = find(file->window, at + 1, n_words);
	}
	*ret_next = offset + at * sizeof(uint64_t);
	return FLEXTRACE_OK;
}

/* Windows overlap by a head, so that each area has one with its head in it; behind the end of the
 * file there are zeros. */
static int scan(struct area_list *list, struct area_file *file, struct flextrace_error *error)
{
	uint64_t offset = 0;

	while (offset < file->n_bytes) {
		FLEXTRACE_TRY(read_at(file, offset, file->window, WINDOW_BYTES, error));
		if (scan_window(list, file, offset, &offset) < 0)
			return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	return FLEXTRACE_OK;
}

int area_list_add(struct area_list *list, const char *path, struct flextrace_error *error)
{
	struct area_file file;
	int code;

	FLEXTRACE_TRY(open_file(path, &file, error));
	file.window = malloc(WINDOW_BYTES);
	code = file.window ? scan(list, &file, error)
	                   : error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	warn_of_rest(list, &file);
	free(file.window);
	(void)close(file.fd);
	return code;
}

void area_list_release(struct area_list *list)
{
	free(list->areas);
	map_release(&list->devices);
	*list = (struct area_list){.n = 0};
}

/* -- reading --------------------------------------------------------------------------------- */

int area_load(const struct dumped_area *area, struct flextrace_drain_area *ret_area,
              struct flextrace_error *error)
{
	uint64_t n_bytes = area->is_cut ? FLEXTRACE_WIRE_AREA_BYTES((uint64_t)4)
	                                : area->header.n_bytes;
	struct area_file file;
	void *memory;
	int code;

	FLEXTRACE_TRY(open_file(area->path, &file, error));
	memory = calloc(1, n_bytes);
	code = memory ? read_at(&file, area->offset_bytes, memory,
	                        area->is_cut ? HEAD_BYTES : written_bytes(&area->header), error)
	              : error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	(void)close(file.fd);
	if (code < 0) {
		free(memory);
		return code;
	}
	flextrace_area_rewind(memory, !area->is_cut);
	*ret_area = (struct flextrace_drain_area){
		.device = area->device,
		.memory = memory,
		.bytes = n_bytes,
	};
	return FLEXTRACE_OK;
}
