/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#define FEW 24u

/* Shell's sort, with the steps of Gonnet and Baeza-Yates: of few numbers, and of those that no
 * pivot divides well. */
static void order_few(int64_t *numbers, size_t n)
{
	for (size_t step = n; step > 1;) {
		step = step > 2 ? (5 * step - 1) / 11 : 1;
		for (size_t i = step; i < n; i++) {
			int64_t number = numbers[i];
			size_t to = i;

			for (; to >= step && numbers[to - step] > number; to -= step)
				numbers[to] = numbers[to - step];
			numbers[to] = number;
		}
	}
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
	if (a > b)
		return middle_of(b, a, c);
	return c < a ? a : c > b ? b : c;
}

/* Puts numbers that are no larger than one of them first, and returns how many. Of both kinds there
 * are some. */
static size_t divide(int64_t *numbers, size_t n)
{
	int64_t pivot = middle_of(numbers[0], numbers[n / 2], numbers[n - 1]);
	size_t left = 0, right = n - 1;

	for (;; left++, right--) {
		int64_t held;

		while (numbers[left] < pivot)
			left++;
		while (numbers[right] > pivot)
			right--;
		if (left >= right)
			return right + 1 < n ? right + 1 : n - 1;
		held = numbers[left];
		numbers[left] = numbers[right];
		numbers[right] = held;
	}
}

static void order_part(int64_t *numbers, size_t n, unsigned int n_levels)
{
	while (n > FEW && n_levels-- > 0) {
		size_t first = divide(numbers, n);

		order_part(numbers, first, n_levels);
		numbers += first;
		n -= first;
	}
	order_few(numbers, n);
}

void order_numbers(int64_t *numbers, size_t n)
{
	order_part(numbers, n, 2 * (64 - (unsigned int)__builtin_clzll(n | 1)));
}
