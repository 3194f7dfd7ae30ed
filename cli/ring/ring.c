/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/former.h"
#include "process/patience.h"
#include "salvage.h"
#include "formats/ctf/torn.h"

/* -- the beginning of the file ----------------------------------------------------------------- */

static const unsigned char magic[] = {0x17, 0x7B, 0xF1, 0x77, 0xBF, 0x17, 0x7B, 0xF1,
                                      0x77, 0xBF, 0x17, 0x7B, 0xF1, 0x77, 0xBF, 0x17};
#define ENDIAN       0x1234
#define WORD_BYTES   8
#define MAX_SUBBUFS  (UINT64_C(1) << 20)
#define PAGE_BYTES   ((uint64_t)sysconf(_SC_PAGESIZE))
#define HEADER_BYTES 84 /* of a packet */

struct crash_abi { /* LTTng's: version 0.0 */
	unsigned char magic[16];
	uint64_t mmap_length;
	uint16_t endian, major, minor;
	uint8_t word_size, layout_type;
	struct {
		uint32_t produced, consumed, hot_array, hot_seq, writers_array, writers_id;
		uint32_t pages_array, pages_offset, pages_memory_offset, content_size, packet_size;
	} __attribute__((packed)) offset;
	uint8_t lengths[8];
	struct {
		uint32_t hot_array, writers_array, pages_array;
	} __attribute__((packed)) stride;
	uint64_t buf_size, subbuf_size, num_subbuf;
	uint32_t mode;
} __attribute__((packed));

/* Behind `produced`, in words: LTTng-UST 2.13 on machines of 64 bits. A reference is an object and
 * an offset in it; all of these are in this file. */
enum {
	WORD_PRODUCED = 0,
	WORD_HOT = 2,
	WORD_CONSUMED = 3,
	WORD_WRITERS = 7,
	WORD_COUNTS = 10,
	WORD_PAGES = 12,
	WORD_COLD = 29,
	WORD_ENDS = 31,
	WORD_LOST = 33, /* three of them: full, wrap, big */
	N_WORDS = 36
};

static volatile uint64_t *word_at(const struct ring *ring, uint64_t at)
{
	return (volatile uint64_t *)(void *)(ring->map + at);
}

static uint64_t load(const struct ring *ring, uint64_t at)
{
	return __atomic_load_n(word_at(ring, at), __ATOMIC_ACQUIRE);
}

static void store(const struct ring *ring, uint64_t at, uint64_t value)
{
	__atomic_store_n(word_at(ring, at), value, __ATOMIC_RELEASE);
}

static uint64_t load_field(const struct ring *ring, int word)
{
	return load(ring, ring->produced_at + (uint64_t)word * WORD_BYTES);
}

static bool fits(const struct ring *ring, uint64_t at, uint64_t n, uint64_t stride)
{
	return at % WORD_BYTES == 0 && stride % WORD_BYTES == 0 && stride >= WORD_BYTES &&
	       stride < 4096 && at < ring->n_bytes && n * stride <= ring->n_bytes - at;
}

static bool is_power(uint64_t n)
{
	return n && !(n & (n - 1));
}

static bool read_abi(struct ring *ring)
{
	struct crash_abi abi;

	memcpy(&abi, ring->map, sizeof(abi));
	if (memcmp(abi.magic, magic, sizeof(magic)) != 0 || abi.endian != ENDIAN || abi.major ||
	    abi.minor || abi.word_size != WORD_BYTES || abi.layout_type ||
	    !is_power(abi.subbuf_size) || !is_power(abi.num_subbuf) ||
	    abi.num_subbuf > MAX_SUBBUFS || abi.subbuf_size > ring->n_bytes ||
	    abi.subbuf_size < 4096 || abi.buf_size != abi.subbuf_size * abi.num_subbuf ||
	    abi.offset.consumed - (uint64_t)abi.offset.produced != WORD_CONSUMED * WORD_BYTES ||
	    abi.offset.pages_memory_offset < 2 * WORD_BYTES || abi.offset.hot_seq != WORD_BYTES ||
	    abi.stride.writers_array != WORD_BYTES)
		return false;
	ring->subbuf_bytes = abi.subbuf_size;
	ring->n_subbufs = abi.num_subbuf;
	ring->is_overwrite = abi.mode == 0;
	ring->produced_at = abi.offset.produced;
	ring->hot_at = abi.offset.hot_array;
	ring->hot_stride = abi.stride.hot_array;
	ring->seq_offset = abi.offset.hot_seq;
	ring->writers_at = abi.offset.writers_array + (uint64_t)abi.offset.writers_id;
	ring->pages_at = abi.offset.pages_array;
	ring->pages_stride = abi.stride.pages_array;
	ring->pages_offset = abi.offset.pages_offset;
	ring->data_offset = abi.offset.pages_memory_offset;
	return fits(ring, ring->produced_at, N_WORDS, WORD_BYTES);
}

/* What the beginning does not tell. The structures are as we think if the same is found where both
 * tell it, and if the counters of what was delivered are what they can be. */
static bool read_rest(struct ring *ring)
{
	ring->cold_at = load_field(ring, WORD_COLD);
	ring->ends_at = load_field(ring, WORD_ENDS);
	ring->counts_at = load_field(ring, WORD_COUNTS);
	if (load_field(ring, WORD_HOT) != ring->hot_at ||
	    load_field(ring, WORD_WRITERS) != ring->writers_at ||
	    load_field(ring, WORD_PAGES) != ring->pages_at ||
	    !fits(ring, ring->hot_at, ring->n_subbufs, ring->hot_stride) ||
	    !fits(ring, ring->cold_at, ring->n_subbufs, ring->hot_stride) ||
	    !fits(ring, ring->ends_at, ring->n_subbufs, WORD_BYTES) ||
	    !fits(ring, ring->counts_at, ring->n_subbufs, WORD_BYTES) ||
	    !fits(ring, ring->writers_at, ring->n_subbufs, WORD_BYTES) ||
	    !fits(ring, ring->pages_at, ring->n_subbufs + ring->is_overwrite, ring->pages_stride) ||
	    ring->pages_offset % WORD_BYTES || ring->pages_offset >= ring->pages_stride ||
	    ring->data_offset % WORD_BYTES)
		return false;
	for (uint64_t i = 0; i < ring->n_subbufs; i++)
		if (load(ring, ring->cold_at + i * ring->hot_stride) % ring->subbuf_bytes > 1)
			return false;
	return true;
}

bool ring_open(const char *path, struct ring *ret_ring)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct ring ring = {.map = MAP_FAILED};
	struct stat status;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_size > sizeof(struct crash_abi)) {
		ring.n_bytes = (uint64_t)status.st_size;
		ring.map = mmap(NULL, ring.n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	close(fd);
	if (ring.map == MAP_FAILED)
		return false;
	if (!read_abi(&ring) || !read_rest(&ring)) {
		ring_close(&ring);
		return false;
	}
	*ret_ring = ring;
	return true;
}

void ring_close(struct ring *ring)
{
	munmap(ring->map, ring->n_bytes);
	ring->map = NULL;
}

/* -- sub-buffers ------------------------------------------------------------------------------- */

struct subbuf {
	uint64_t position, index;
	uint64_t base; /* its counters when its round began */
	uint64_t hot_at, cold_at;
};

static struct subbuf subbuf_of(const struct ring *ring, uint64_t position)
{
	uint64_t buf_bytes = ring->subbuf_bytes * ring->n_subbufs;
	uint64_t index = position % buf_bytes / ring->subbuf_bytes;

	return (struct subbuf){.position = position,
	                       .index = index,
	                       .base = position / buf_bytes * ring->subbuf_bytes,
	                       .hot_at = ring->hot_at + index * ring->hot_stride,
	                       .cold_at = ring->cold_at + index * ring->hot_stride};
}

/* LTTng compares without the highest bits, as many as number the sub-buffers. */
static uint64_t since_base(const struct ring *ring, const struct subbuf *subbuf, uint64_t count)
{
	return (count - subbuf->base) & (UINT64_MAX / ring->n_subbufs);
}

static uint64_t committed(const struct ring *ring, const struct subbuf *subbuf)
{
	return since_base(ring, subbuf, load(ring, subbuf->hot_at));
}

static bool is_delivered(const struct ring *ring, const struct subbuf *subbuf)
{
	return since_base(ring, subbuf, load(ring, subbuf->cold_at)) == ring->subbuf_bytes;
}

/* Where the first one begins that is not read, and the one that is being written. */
static uint64_t first_unread(const struct ring *ring, uint64_t *ret_current)
{
	uint64_t consumed = load_field(ring, WORD_CONSUMED);
	uint64_t produced = load_field(ring, WORD_PRODUCED);

	*ret_current = produced - produced % ring->subbuf_bytes;
	consumed -= consumed % ring->subbuf_bytes;
	/* A file that makes no sense is not walked for ever. */
	if (*ret_current - consumed > ring->subbuf_bytes * ring->n_subbufs)
		return *ret_current;
	return consumed;
}

bool ring_find_stuck(const struct ring *ring, struct ring_stuck *ret_stuck)
{
	uint64_t current, position = first_unread(ring, &current);

	for (; position != current; position += ring->subbuf_bytes) {
		struct subbuf subbuf = subbuf_of(ring, position);

		if (is_delivered(ring, &subbuf))
			continue;
		*ret_stuck = (struct ring_stuck){position, committed(ring, &subbuf)};
		return true;
	}
	return false;
}

/* -- packets ----------------------------------------------------------------------------------- */

/* The memory of a sub-buffer, and where its length stands; NULL: out of range. */
static unsigned char *memory_of(const struct ring *ring, const struct subbuf *subbuf,
                                uint64_t *ret_length_at)
{
	uint64_t id = load(ring, ring->writers_at + subbuf->index * WORD_BYTES);
	uint64_t pages, memory;

	if (ring->is_overwrite)
		id &= UINT32_MAX;
	if (id >= ring->n_subbufs + ring->is_overwrite)
		return NULL;
	pages = load(ring, ring->pages_at + id * ring->pages_stride + ring->pages_offset);
	if (pages % WORD_BYTES || pages >= ring->n_bytes ||
	    ring->data_offset + WORD_BYTES > ring->n_bytes - pages)
		return NULL;
	memory = load(ring, pages + ring->data_offset);
	if (memory >= ring->n_bytes || ring->subbuf_bytes > ring->n_bytes - memory)
		return NULL;
	*ret_length_at = pages + ring->data_offset - 2 * WORD_BYTES; /* in front of the reference */
	return ring->map + memory;
}

static bool read_header(const struct ring *ring, uint64_t position, struct packet_header *header)
{
	struct subbuf subbuf = subbuf_of(ring, position);
	uint64_t length_at;
	const unsigned char *memory = memory_of(ring, &subbuf, &length_at);

	if (!memory)
		return false;
	memcpy(header, memory, sizeof(*header));
	return header->magic == CTF_MAGIC;
}

static uint64_t count_lost(const struct ring *ring)
{
	return load_field(ring, WORD_LOST) + load_field(ring, WORD_LOST + 1) +
	       load_field(ring, WORD_LOST + 2);
}

/* The header of a packet as its last writer would have left it. A thread may have died before it
 * wrote even the first part, which is like that of the one before. */
static bool make_header(const struct ring *ring, const struct subbuf *subbuf, uint64_t n_committed,
                        struct packet_header *header)
{
	struct packet_header next;
	bool is_begun = n_committed >= HEADER_BYTES;

	if (!read_header(ring, subbuf->position - (is_begun ? 0 : ring->subbuf_bytes), header))
		return false;
	if (!is_begun)
		header->begin_ns = load(
			ring, ring->ends_at +
				      subbuf_of(ring, subbuf->position - ring->subbuf_bytes).index *
					      WORD_BYTES);
	header->number = ring->n_subbufs *
	                         load(ring, ring->counts_at + subbuf->index * WORD_BYTES) +
	                 subbuf->index;
	header->end_ns = (uint64_t)patience_now_ns();
	header->n_discarded = count_lost(ring);
	if (load_field(ring, WORD_PRODUCED) > subbuf->position + ring->subbuf_bytes &&
	    read_header(ring, subbuf->position + ring->subbuf_bytes, &next) &&
	    next.begin_ns >= header->begin_ns && next.begin_ns <= header->end_ns)
		header->end_ns = next.begin_ns;
	return true;
}

/* -- healing ----------------------------------------------------------------------------------- */

/* What a reader in overwrite mode looks for: which round the sub-buffer is of, and that nobody
 * writes into it. */
#define ROUND_SHIFT   33
#define NOBODY_WRITES (UINT64_C(1) << 32)

static void mark_round(const struct ring *ring, const struct subbuf *subbuf)
{
	uint64_t at = ring->writers_at + subbuf->index * WORD_BYTES;
	uint64_t round = subbuf->position / (ring->subbuf_bytes * ring->n_subbufs);

	if (ring->is_overwrite)
		store(ring, at,
		      (load(ring, at) & UINT32_MAX) | round << ROUND_SHIFT | NOBODY_WRITES);
}

/* What was committed of a packet. */
struct extent {
	uint64_t n_whole; /* up to here all is */
	uint64_t n_missing;
};

/* Takes the holes out of the packet. Where its records are not known, ends it at the first. */
static void cut(const struct ring *ring, const struct subbuf *subbuf, unsigned char *memory,
                struct packet_header *header, const struct extent *extent, uint64_t length_at)
{
	struct torn_mark mark = {.magic = TORN_MAGIC};
	uint64_t length = load(ring, length_at), n = extent->n_whole, n_before = 0;
	unsigned char *before = NULL;

	if (length < n || length > ring->subbuf_bytes)
		length = ring->subbuf_bytes; /* its writer died before it said */
	if (ring->layout && subbuf->base && !ring->is_overwrite && ring->trace_dir)
		before = former_read(ring->trace_dir, ring->name, header,
		                     header->number - ring->n_subbufs, &n_before);
	if (ring->layout)
		n = salvage_records(&(struct salvage){.memory = memory,
		                                      .layout = ring->layout,
		                                      .stream_id = header->stream_id,
		                                      .begin_ns = header->begin_ns,
		                                      .end_ns = header->end_ns,
		                                      .first = HEADER_BYTES,
		                                      .n_sure = n,
		                                      .n_bytes = length,
		                                      .n_room = ring->subbuf_bytes,
		                                      .n_missing = extent->n_missing,
		                                      .was_zero = subbuf->base == 0,
		                                      .before = before,
		                                      .n_before = before ? n_before : 0});
	free(before);
	mark.n_bytes = length > n ? length - n : extent->n_missing;
	header->content_bits = n * 8;
	if (n + sizeof(mark) <= ring->subbuf_bytes) {
		memcpy(memory + n, &mark, sizeof(mark));
		n += sizeof(mark);
	}
	header->packet_bits = (n + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES * 8;
	store(ring, length_at, n);
}

static void deliver(const struct ring *ring, const struct subbuf *subbuf)
{
	uint64_t full = subbuf->base + ring->subbuf_bytes;
	uint64_t count_at = ring->counts_at + subbuf->index * WORD_BYTES;

	store(ring, count_at, load(ring, count_at) + 1);
	mark_round(ring, subbuf);
	store(ring, subbuf->hot_at, full);
	store(ring, subbuf->hot_at + ring->seq_offset, full);
	store(ring, subbuf->cold_at, full);
}

/* Returns how many: 0 or 1. */
static uint32_t heal(const struct ring *ring, const struct subbuf *subbuf)
{
	uint64_t n_committed = committed(ring, subbuf), length_at, n_whole, length;
	unsigned char *memory = memory_of(ring, subbuf, &length_at);
	bool is_torn = n_committed != ring->subbuf_bytes;
	struct packet_header header;

	n_whole = since_base(ring, subbuf, load(ring, subbuf->hot_at + ring->seq_offset));
	if (n_whole > ring->subbuf_bytes)
		n_whole = 0; /* of the round before */
	if (!memory || !make_header(ring, subbuf, is_torn ? n_whole : n_committed, &header))
		return 0;
	if (is_torn) {
		struct extent extent = {n_whole < HEADER_BYTES ? HEADER_BYTES : n_whole,
		                        ring->subbuf_bytes - n_committed};

		cut(ring, subbuf, memory, &header, &extent, length_at);
	} else { /* died after its last commit, and before it told the reader */
		length = load(ring, length_at);
		header.content_bits = length * 8;
		header.packet_bits = (length + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES * 8;
	}
	memcpy(memory, &header, sizeof(header));
	deliver(ring, subbuf);
	return 1;
}

/* Programs that found no room told nobody yet how much they lost: the newest packet does. */
static void write_lost(const struct ring *ring, uint64_t position)
{
	struct subbuf subbuf = subbuf_of(ring, position);
	struct packet_header header;
	uint64_t length_at;
	unsigned char *memory = memory_of(ring, &subbuf, &length_at);

	if (!memory || !read_header(ring, position, &header) || !is_delivered(ring, &subbuf))
		return;
	header.n_discarded = count_lost(ring);
	memcpy(memory, &header, sizeof(header));
}

/* Closes the sub-buffer that is being written, as LTTng's flush does. */
void ring_close_current(const struct ring *ring)
{
	uint64_t produced = load_field(ring, WORD_PRODUCED);
	uint64_t used = produced % ring->subbuf_bytes, length_at;
	struct subbuf subbuf = subbuf_of(ring, produced - used);

	if (!used || !memory_of(ring, &subbuf, &length_at))
		return;
	store(ring, length_at, used);
	store(ring, ring->produced_at, produced - used + ring->subbuf_bytes);
	store(ring, subbuf.hot_at, load(ring, subbuf.hot_at) + ring->subbuf_bytes - used);
}

uint32_t ring_heal(const struct ring *ring)
{
	uint64_t current, position = first_unread(ring, &current);
	struct ring_stuck stuck;
	uint32_t n = 0;

	if (ring_find_stuck(ring, &stuck))
		write_lost(ring, current - ring->subbuf_bytes);
	for (; position != current; position += ring->subbuf_bytes) {
		struct subbuf subbuf = subbuf_of(ring, position);

		if (!is_delivered(ring, &subbuf))
			n += heal(ring, &subbuf);
	}
	return n;
}

uint32_t ring_heal_one(const struct ring *ring, const struct ring_stuck *stuck)
{
	struct subbuf subbuf = subbuf_of(ring, stuck->position);

	return is_delivered(ring, &subbuf) ? 0 : heal(ring, &subbuf);
}
