/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix_device.h: what a program tells of device 0 whose cores are threads of its own, on the posix
 * port's clock of 1 GHz. Names of markers are those of the program.
 */
#ifndef FLEXTRACE_TESTS_POSIX_DEVICE_H
#define FLEXTRACE_TESTS_POSIX_DEVICE_H

#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

static inline void posix_device_define(const char *uuid, uint32_t n_cores)
{
	struct flextrace_device device = {
		.uuid = uuid, .n_cores = n_cores, .core_hz = 1000000000, .name = "threads"};
	struct flextrace_clock_domain domain = {.counter_bits = 64, .nominal_hz = 1000000000};

	flextrace_device(&device);
	flextrace_clock_domain(&domain);
	(void)flextrace_device_names(0, "/proc/self/exe");
}

static inline void posix_device_sync(void)
{
	uint64_t before_ns = flextrace_now_ns();
	uint64_t ticks = flextrace_posix_clock();

	FLEXTRACE_CLOCK_SYNC(0, 0, before_ns, ticks, flextrace_now_ns());
}

#endif
