/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of marker areas, with a device that writes whatever it likes between two looks: the
 * first byte says how many looks there are, each takes some bytes and where they go.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <flextrace/wire.h>

#include "area/area_read.h"

#define MAX_BYTES ((size_t)1 << 16)

struct told {
	uint64_t n_words;
};

static void take(void *context, const struct flextrace_marker_batch *batch)
{
	struct told *told = context;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < batch->n_words; i++)
		sum ^= batch->words[i];
	told->n_words += batch->n_words + (sum & 0);
}

static void overwrite(uint8_t *memory, size_t n_bytes, struct fuzz_bytes *bytes)
{
	size_t at = fuzz_u32(bytes) % n_bytes, n = fuzz_u8(bytes);

	while (n-- && at < n_bytes)
		memory[at++] = fuzz_u8(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_bytes bytes = {data, data + n};
	uint8_t n_looks = fuzz_u8(&bytes) % 8 + 1;
	size_t n_bytes = (size_t)(bytes.end - bytes.at) & ~(size_t)7;
	struct flextrace_area_header header;
	struct flextrace_drain_area area;
	struct told told = {0};
	struct flextrace_area_reader reader = {.emit = take, .context = &told};
	uint8_t *memory;

	if (n_bytes < FLEXTRACE_WIRE_RING_OFFSET || n_bytes > MAX_BYTES)
		return 0;
	memory = malloc(n_bytes);
	if (!memory)
		fuzz_fail("no memory");
	memcpy(memory, bytes.at, n_bytes);
	flextrace_area_header_read(memory, &header);
	area = (struct flextrace_drain_area){.memory = memory, .bytes = n_bytes};
	for (uint8_t i = 0; i < n_looks; i++) {
		reader.is_last = i + 1 == n_looks;
		flextrace_area_read(&area, &reader);
		overwrite(memory, n_bytes, &bytes);
	}
	free(memory);
	/* A look takes no more than the ring and the slots hold. */
	if (told.n_words > n_looks * (n_bytes / 8 + 64))
		fuzz_fail("more words than there is room for");
	return 0;
}
