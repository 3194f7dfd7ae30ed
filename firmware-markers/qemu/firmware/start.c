/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instructions of every hart, which QEMU starts at the first address of its memory, and
 * the two functions that a compiler may call without being asked.
 */
#include <stddef.h>
#include <stdint.h>

void _start(void);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);

/* A page of stack per hart; no hart needs another's. */
__attribute__((naked, used, section(".text.start"))) void _start(void)
{
	__asm__ volatile("csrr a0, mhartid\n"
	                 "la   sp, stacks\n"
	                 "addi t0, a0, 1\n"
	                 "slli t0, t0, 12\n"
	                 "add  sp, sp, t0\n"
	                 "call core_main\n"
	                 "1: wfi\n"
	                 "j    1b\n");
}

#define WORD sizeof(uintptr_t)

static int is_aligned(const void *at)
{
	return ((uintptr_t)at & (WORD - 1)) == 0;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
	uint8_t *target = to;
	const uint8_t *source = from;

	if (is_aligned(to) && is_aligned(from)) {
		for (; bytes >= WORD; bytes -= WORD, target += WORD, source += WORD)
			*(volatile uintptr_t *)(void *)target =
				*(const uintptr_t *)(const void *)source;
	}
	while (bytes--)
		*(volatile uint8_t *)target++ = *source++;
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	uint8_t *target = to;

	while (bytes--)
		*(volatile uint8_t *)target++ = (uint8_t)byte;
	return to;
}
