/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qemu.h: an accelerator of RISC-V cores, run by QEMU: real firmware, cross-compiled and
 * freestanding, in a memory that the host maps as a driver maps a device's BAR.
 *
 * It takes the control blocks of the emulator (emulator.h), in the same way, and runs the same
 * firmware source, markers included. A device is one QEMU process whose harts are the cores; they
 * share an image, have a mailbox, a marker area and a local memory each, and sleep in a timed wfi
 * while their mailbox is empty. "DMA" goes between local memory and a stage in device memory that
 * submit() fills and wait() reads.
 *
 * The counter of a core is made of its mcycle, which under QEMU is the host's own counter (the TSC
 * of x86-64): config.counter_hz, drift_ppb and offset_ticks, or those of core_clocks, become a
 * ratio and an origin that the host writes. So cores may have counters that were gated apart, and
 * the true host time of each stamp is known: truth_path works as for the emulator. create() checks
 * that the two counters are one and refuses (-EOPNOTSUPP) where they are not. Rates are constant:
 * no steps, and none beyond the host's. `seed` has no meaning, as cores make no pauses, nor has
 * `mailbox_depth`, which is 4.
 *
 * - Nothing is left behind: the memory is a file without a name, and QEMU ends with this process,
 *   however that ends.
 * - Nothing spins but flextrace_qemu_read(): QEMU's UART is the completion interrupt, waits are
 *   bounded by `timeout_ms`.
 * - Any thread may submit and wait; memory of a job stays the caller's (weak) until wait().
 * - Functions return 0 or a negative errno value; -EIO: QEMU is gone.
 *
 * Linux only, little-endian. C99 and C++11.
 */
#ifndef FLEXTRACE_QEMU_H
#define FLEXTRACE_QEMU_H

#include <flextrace/emulator.h>

#ifdef __cplusplus
extern "C" {
#endif

struct flextrace_qemu; /* opaque */

#define FLEXTRACE_QEMU_MAX_CORES 16u

/* Which cores; each has a firmware image of its own. */
enum flextrace_qemu_isa {
	FLEXTRACE_QEMU_RV32IMAC = 0,
	FLEXTRACE_QEMU_RV32IM = 1, /* no atomics, no compressed instructions */
	FLEXTRACE_QEMU_RV64IMAC = 2
};

/* All zero is a good choice. */
struct flextrace_qemu_options {
	uint32_t isa;         /* enum flextrace_qemu_isa */
	uint32_t timeout_ms;  /* of each wait; 0 = 60000, which QEMU has to start at least */
	const char *elf_path; /* weak; another image than the built-in choice */
};

/* 0 if a device with these options could be started here, else -ENOENT and, in one line, what is
 * missing (static text). NULL = default options. */
int flextrace_qemu_check(const struct flextrace_qemu_options *options, const char **ret_why);

/* Path of the firmware image of these options, for flextrace_device_names(). */
const char *flextrace_qemu_elf(const struct flextrace_qemu_options *options);

/* Starts a device. `options` NULL = defaults. -EINVAL: bad configuration; -ENOENT: see check();
 * -EOPNOTSUPP: QEMU's cycle counter is not the host's; -ETIMEDOUT: the cores did not boot. */
int flextrace_qemu_create(const struct flextrace_emulator_config *config,
                          const struct flextrace_qemu_options *options,
                          struct flextrace_qemu **ret_qemu);

/*
 * Finishes all submitted jobs, ends QEMU, closes the truth file. NULL is a no-op. -EIO if a row of
 * the truth file is missing or cannot be true. A core that a wait() gave up on is not waited for.
 */
int flextrace_qemu_destroy(struct flextrace_qemu *qemu);

/* As flextrace_emulator_submit(). */
int flextrace_qemu_submit(struct flextrace_qemu *qemu, const struct flextrace_emulator_job *job,
                          uint64_t *ret_ticket);

/* As flextrace_emulator_wait(); -ETIMEDOUT leaves the ticket outstanding. */
int flextrace_qemu_wait(struct flextrace_qemu *qemu, uint32_t core, uint64_t ticket,
                        struct flextrace_emulator_completion *ret_completion);

/* The marker area of a core (the device keeps it). It may be drained at any time. */
struct flextrace_wire_area *flextrace_qemu_area(struct flextrace_qemu *qemu, uint32_t core,
                                                size_t *ret_bytes);

/* A reading of a core's counter between two of CLOCK_MONOTONIC, for a clock_sync. */
struct flextrace_qemu_reading {
	uint64_t before_ns, ticks, after_ns;
};

/*
 * The same, with the bracket that it belongs to. Host and core exchange some words in loops, for
 * some us if both have a processor, for some ms if not; of several readings the one with the
 * narrowest bracket is taken.
 */
int flextrace_qemu_read(struct flextrace_qemu *qemu, uint32_t core,
                        struct flextrace_qemu_reading *ret_reading);

/* QEMU's process, for tests. */
int flextrace_qemu_pid(const struct flextrace_qemu *qemu);

#ifdef __cplusplus
}
#endif

#endif
