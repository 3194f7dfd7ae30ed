/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c without its markers: both must give the same object when markers are disabled. */
#include <stdint.h>

uint32_t work(uint32_t job);

uint32_t work(uint32_t job)
{
	uint32_t sum = 0;
	uint32_t i;

	for (i = 0; i < job; i++) {
		sum += i * i;
	}
	return sum;
}
