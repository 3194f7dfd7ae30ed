/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A firmware that uses every macro, one function per macro so that costs.sh can read their sizes.
 * On QEMU's `virt` it prints, a line each, how many instructions 1024 of them took more than 1024
 * calls of nothing (in hexadecimal; -icount shift=0 makes the counter count instructions).
 */
#include <flextrace/marker.h>

#define N_CALLS  1024u
#define CAPACITY 32768u

#define UART     (*(volatile uint8_t *)0x10000000)
#define FINISHER (*(volatile uint32_t *)0x100000)

void measure_all(void);
void _start(void);

/* Stands first, where QEMU starts. */
__attribute__((naked)) void _start(void)
{
	__asm__ volatile("li sp, 0x80300000\n"
	                 "call measure_all\n"
	                 "1: j 1b");
}

void site_nothing(uint32_t value)
{
	(void)value;
}

void site_ts(uint32_t value)
{
	(void)value;
	FLEXTRACE_TS(3);
}

void site_kernel(uint32_t value)
{
	(void)value;
	FLEXTRACE_KERNEL_START();
}

void site_fw_end(uint32_t value)
{
	(void)value;
	FLEXTRACE_FW_END();
}

void site_mark(uint32_t value)
{
	(void)value;
	FLEXTRACE_MARK("a mark");
}

void site_zone_begin(uint32_t value)
{
	(void)value;
	FLEXTRACE_ZONE_BEGIN("a zone");
}

void site_zone_begin_id(uint32_t value)
{
	FLEXTRACE_ZONE_BEGIN_ID(value);
}

void site_zone_end_id(uint32_t value)
{
	FLEXTRACE_ZONE_END_ID(value);
}

void site_zone_end(uint32_t value)
{
	(void)value;
	FLEXTRACE_ZONE_END("a zone");
}

void site_value(uint32_t value)
{
	FLEXTRACE_VALUE("a value", value);
}

void site_fw_start(uint32_t value)
{
	FLEXTRACE_FW_START(value, 0);
}

static void print(const char *text)
{
	while (*text)
		UART = (uint8_t)*text++;
}

static __attribute__((noinline)) uint32_t calls(void (*site)(uint32_t value))
{
	uint32_t begin = FLEXTRACE_CLOCK_LO();
	uint32_t i;

	for (i = 0; i < N_CALLS; i++)
		site(i);
	return FLEXTRACE_CLOCK_LO() - begin;
}

static void measure(const char *name, void (*site)(uint32_t value))
{
	uint32_t more = calls(site) - calls(site_nothing);
	int shift;

	print(name);
	print(" 0x");
	for (shift = 28; shift >= 0; shift -= 4)
		UART = (uint8_t) "0123456789abcdef"[more >> shift & 15];
	print("\n");
}

void measure_all(void)
{
	FLEXTRACE_FW_INIT(0, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
	measure("fw_start", site_fw_start);
	measure("ts", site_ts);
	measure("kernel", site_kernel);
	measure("mark", site_mark);
	measure("value", site_value);
	measure("zone_begin", site_zone_begin);
	measure("zone_end", site_zone_end);
	measure("zone_begin_id", site_zone_begin_id);
	measure("zone_end_id", site_zone_end_id);
	measure("fw_end", site_fw_end);
	FLEXTRACE_FW_INIT(0, 0, 0, 4, FLEXTRACE_WIRE_STOP);
	calls(site_mark);
	measure("mark_dropped", site_mark);
	FINISHER = 0x5555;
}
