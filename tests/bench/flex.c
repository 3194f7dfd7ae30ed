/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex: writes a file as Flex does, on standard output.
 *
 *   flex KERNELS repeated    one loop of 40 kernels, again and again
 *   flex KERNELS unique      no kernel has the name of another
 *   flex KERNELS shuffled    as repeated, but pieces of 1000 kernels stand in another order
 *
 * Each kernel is a B and an E of its compute phase. Its device counts at exactly 557.05 MHz and
 * wraps every 7.7 s. The same arguments write the same bytes.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS UINT64_C(1475000720166077)
#define LOOP     40
#define PIECE    1000
#define TID      "2009867741857745393"

static const char *const names[] = {"convolution", "add",     "max_pool2d", "addmm_MatMul",
                                    "mean",        "softmax", "view",       "relu"};

static uint64_t ticks_at(uint64_t ns)
{
	return ns / 100000 * 55705 + ns % 100000 * 55705 / 100000;
}

static int put_event(const char *name, const uint32_t *ts, char ph, uint64_t ns)
{
	return printf("{\"attr\":{\"Power\":\"0x%" PRIx32 "\",\"TS1\":\"0x%" PRIx32
	              "\",\"TS2\":\"0x%" PRIx32 "\",\"TS3\":\"0x%" PRIx32 "\",\"TS4\":\"0x%" PRIx32
	              "\",\"TS5\":\"0x%" PRIx32 "\"},\"name\":\"%s Cmpt Exec\",\"ph\":\"%c\","
	              "\"pid\":0,\"tid\":" TID ",\"ts\":%" PRIu64 ".%03u}",
	              ts[3] * 494, ts[0], ts[1], ts[2], ts[3], ts[4], name, ph, ns / 1000,
	              (unsigned)(ns % 1000));
}

static void put_kernel(uint64_t i, int is_unique)
{
	const uint64_t begin_ns = START_NS + i * 60000 + i % 7 * 900;
	const uint64_t end_ns = begin_ns + 8000 + i % LOOP * 1000;
	const uint64_t first = ticks_at(begin_ns - 400000), begin = ticks_at(begin_ns);
	const uint64_t end = ticks_at(end_ns);
	const uint32_t ts[] = {(uint32_t)first, (uint32_t)first, (uint32_t)begin, (uint32_t)end,
	                       (uint32_t)end + 6};
	char name[64];

	snprintf(name, sizeof(name), "%s_%" PRIu64, names[i % 8], is_unique ? i : i % LOOP);
	put_event(name, ts, 'B', begin_ns);
	fputs(",\n", stdout);
	put_event(name, ts, 'E', end_ns);
}

int main(int argc, char **argv)
{
	const uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	const int is_unique = argc == 3 && !strcmp(argv[2], "unique");
	const int is_shuffled = argc == 3 && !strcmp(argv[2], "shuffled");
	const uint64_t n_pieces = (n + PIECE - 1) / PIECE;

	if (!n || (!is_unique && !is_shuffled && strcmp(argv[2], "repeated"))) {
		fputs("usage: flex KERNELS repeated|unique|shuffled\n", stderr);
		return 2;
	}
	fputs("[\n", stdout);
	for (uint64_t piece = 0; piece < n_pieces; piece++) {
		/* The second half backwards between the pieces of the first. */
		const uint64_t of = !is_shuffled ? piece
		                    : piece % 2  ? n_pieces - 1 - piece / 2
		                                 : piece / 2;

		for (uint64_t i = of * PIECE; i < (of + 1) * PIECE && i < n; i++) {
			if (i > of * PIECE || piece)
				fputs(",\n", stdout);
			put_kernel(i, is_unique);
		}
	}
	fputs("\n]\n", stdout);
	return ferror(stdout) || fclose(stdout) ? 1 : 0;
}
