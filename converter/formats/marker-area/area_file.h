/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area_file.h: finds marker areas in files of raw memory, and reads one into memory.
 *
 * - An area may begin at any multiple of 8 bytes: a file is one area, several behind each other, or
 *   a copy of a whole memory that has some.
 * - Nothing that an area says is believed: what does not fit its file is cut or refused, and told.
 *   A cut area still has its header and its slots.
 * - An area may begin inside of what another one claims, whose header then is a stale one, or whose
 *   ring was never filled that far: both are found, and told. Where a header stands in records that
 *   the outer one says it wrote, the outer one is cut.
 * - Areas with the same core and processor are of different devices, numbered in their order.
 * - Memory: a window of 1 MiB, 100 bytes for each area, and the area that is read.
 */
#ifndef FLEXTRACE_IMPORT_AREA_FILE_H
#define FLEXTRACE_IMPORT_AREA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "model/origins.h"
#include "tracer/src/area/area_read.h"

struct dumped_area {
	struct flextrace_area_header header;
	const char *path; /* weak */
	uint64_t offset_bytes;
	uint32_t device;
	struct origin origin; /* for whoever numbers files; zeroes */
	bool is_cut;          /* its ring is not all its own: the file ends, or an area begins */
	uint64_t inner_bytes; /* place of an area that begins in its ring's records; 0 = none */
};

struct area_list {
	struct dumped_area *areas; /* owned */
	uint32_t n;
	uint32_t n_refused; /* begin as areas, but contradict themselves or end too early */
	uint32_t n_cut;
	uint32_t n_inside;  /* begin inside of what another one claims */
	struct map devices; /* (core, processor) -> areas that have them */
	/* Tells what is wrong, and where; NULL = not wanted. */
	void (*warn)(void *context, const char *text);
	void *context;
};

/* Adds the areas of a file to a list that was zeroed. Weak: `path`. FLEXTRACE_E_INPUT: it cannot be
 * read. */
int area_list_add(struct area_list *list, const char *path, struct flextrace_error *error);
void area_list_release(struct area_list *list);

/* Reads an area whole and makes all of it unread: `ret_area` is ready for flextrace_area_read().
 * Its memory is owned: free(). */
int area_load(const struct dumped_area *area, struct flextrace_drain_area *ret_area,
              struct flextrace_error *error);

#endif
