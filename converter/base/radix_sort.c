/* SPDX-License-Identifier: Apache-2.0 */
#include "radix_sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define DIGIT_BITS 11
#define DIGIT_MASK ((1u << DIGIT_BITS) - 1)

/* Sorts by one digit of the key. */
static void sort_by_digit(const struct keyed_place *from, struct keyed_place *to, uint32_t n,
                          unsigned int shift)
{
	uint32_t starts[1u << DIGIT_BITS] = {0}, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		starts[from[i].key >> shift & DIGIT_MASK]++;
	for (uint32_t i = 0; i <= DIGIT_MASK; i++) {
		uint32_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[starts[from[i].key >> shift & DIGIT_MASK]++] = from[i];
}

/* Where the ascending run that begins at `first` ends. */
static uint32_t end_of_run(const struct keyed_place *places, uint32_t first, uint32_t n)
{
	uint32_t end = first < n ? first + 1 : n;

	while (end < n && places[end - 1].key <= places[end].key)
		end++;
	return end;
}

/* Merges neighbouring ascending runs by pairs. */
static void merge_runs(const struct keyed_place *from, struct keyed_place *to, uint32_t n)
{
	for (uint32_t begin = 0; begin < n;) {
		uint32_t middle = end_of_run(from, begin, n), end = end_of_run(from, middle, n);
		uint32_t left = begin, right = middle;

		while (left < middle && right < end)
			*to++ = from[right].key < from[left].key ? from[right++] : from[left++];
		while (left < middle)
			*to++ = from[left++];
		while (right < end)
			*to++ = from[right++];
		begin = end;
	}
}

/* Each round goes through all places. */
static unsigned int rounds_of_merges(uint32_t n_runs)
{
	return n_runs > 1 ? 32 - (unsigned int)__builtin_clz(n_runs - 1) : 0;
}

static unsigned int rounds_of_digits(uint64_t most)
{
	return most ? (64 - (unsigned int)__builtin_clzll(most) + DIGIT_BITS - 1) / DIGIT_BITS : 0;
}

struct keyed_place *radix_sort(struct keyed_place *places, struct keyed_place *spare, uint32_t n)
{
	uint64_t first = UINT64_MAX, last = 0;
	unsigned int n_merges, n_digits;
	uint32_t n_runs = 1;

	for (uint32_t i = 0; i < n; i++) {
		n_runs += i > 0 && places[i].key < places[i - 1].key;
		first = places[i].key < first ? places[i].key : first;
		last = places[i].key > last ? places[i].key : last;
	}
	for (uint32_t i = 0; i < n; i++)
		places[i].key -= first;
	n_merges = rounds_of_merges(n_runs);
	n_digits = n ? rounds_of_digits(last - first) : 0;
	for (unsigned int i = 0; i < (n_merges < n_digits ? n_merges : n_digits); i++) {
		struct keyed_place *sorted = spare;

		if (n_merges < n_digits)
			merge_runs(places, sorted, n);
		else
			sort_by_digit(places, sorted, n, i * DIGIT_BITS);
		spare = places;
		places = sorted;
	}
	return places;
}

/* -- elements --------------------------------------------------------------------------------- */

static uint64_t key_of(const char *element, const struct radix_order *order)
{
	uint64_t key;

	memcpy(&key, element + order->key_offset, sizeof(key));
	return order->is_signed ? key ^ UINT64_C(1) << 63 : key;
}

/* Moves each element to where it is sorted to, cycle by cycle; `places` are used up. */
static void move_elements(char *elements, struct keyed_place *places, uint32_t n, size_t size)
{
	char held[PLACES_MAX_BYTES];

	for (uint32_t first = 0; first < n; first++) {
		uint32_t to = first, from = places[first].place;

		if (from == first)
			continue;
		memcpy(held, elements + first * size, size);
		for (; from != first; from = places[to].place) {
			memcpy(elements + to * size, elements + from * size, size);
			places[to].place = to;
			to = from;
		}
		memcpy(elements + to * size, held, size);
		places[to].place = to;
	}
}

int radix_sort_elements(void *elements, uint32_t n, const struct radix_order *order)
{
	struct keyed_place *places = calloc(2ull * n + 1, sizeof(*places)), *sorted;
	size_t size = order->size_bytes;
	char *base = elements;

	assert(size <= PLACES_MAX_BYTES);
	if (!places)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n; i++)
		places[i] = (struct keyed_place){key_of(base + i * size, order), i};
	sorted = radix_sort(places, places + n, n);
	move_elements(base, sorted, n, size);
	for (uint32_t first = 0, next; first < n; first = next) {
		next = radix_end_of_key(sorted, n, first);
		if (next - first > 1)
			qsort(base + first * size, next - first, size, order->compare);
	}
	free(places);
	return FLEXTRACE_OK;
}
