/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "backend.h"

/* -- threads of this process ----------------------------------------------------------------- */

static void *emulator_open(const struct options *options,
                           const struct flextrace_emulator_config *config, const char **ret_why)
{
	struct flextrace_emulator *emulator = NULL;
	int status = flextrace_emulator_create(config, &emulator);
	(void)options;
	if (status)
		*ret_why = strerror(-status);
	return emulator;
}

static int emulator_close(void *self)
{
	return flextrace_emulator_destroy(self);
}

static int emulator_submit(void *self, const struct flextrace_emulator_job *job,
                           uint64_t *ret_ticket)
{
	return flextrace_emulator_submit(self, job, ret_ticket);
}

static int emulator_wait(void *self, uint32_t core, uint64_t ticket,
                         struct flextrace_emulator_completion *ret_completion)
{
	return flextrace_emulator_wait(self, core, ticket, ret_completion);
}

static struct flextrace_wire_area *emulator_area(void *self, uint32_t core, size_t *ret_bytes)
{
	return flextrace_emulator_area(self, core, ret_bytes);
}

static int emulator_read(void *self, uint32_t core, struct flextrace_qemu_reading *ret_reading)
{
	ret_reading->before_ns = flextrace_now_ns();
	ret_reading->ticks = flextrace_emulator_counter(self, core);
	ret_reading->after_ns = flextrace_now_ns();
	return 0;
}

static const char *emulator_elf(const struct options *options)
{
	(void)options;
	return flextrace_emulator_elf();
}

const struct backend emulator_backend = {
	.name = "emulated AIU",
	.open = emulator_open,
	.close = emulator_close,
	.submit = emulator_submit,
	.wait = emulator_wait,
	.area = emulator_area,
	.read = emulator_read,
	.elf = emulator_elf,
};

/* -- RISC-V cores under QEMU ----------------------------------------------------------------- */

static void *qemu_open(const struct options *options,
                       const struct flextrace_emulator_config *config, const char **ret_why)
{
	const struct flextrace_qemu_options cores = {.isa = options->isa};
	struct flextrace_qemu *qemu = NULL;
	if (flextrace_qemu_check(&cores, ret_why))
		return NULL;
	int status = flextrace_qemu_create(config, &cores, &qemu);
	if (status == -EOPNOTSUPP)
		*ret_why = "QEMU's cycle counter is not the host's here";
	else if (status)
		*ret_why = strerror(-status);
	return qemu;
}

static int qemu_close(void *self)
{
	return flextrace_qemu_destroy(self);
}

static int qemu_submit(void *self, const struct flextrace_emulator_job *job, uint64_t *ret_ticket)
{
	return flextrace_qemu_submit(self, job, ret_ticket);
}

static int qemu_wait(void *self, uint32_t core, uint64_t ticket,
                     struct flextrace_emulator_completion *ret_completion)
{
	return flextrace_qemu_wait(self, core, ticket, ret_completion);
}

static struct flextrace_wire_area *qemu_area(void *self, uint32_t core, size_t *ret_bytes)
{
	return flextrace_qemu_area(self, core, ret_bytes);
}

static int qemu_read(void *self, uint32_t core, struct flextrace_qemu_reading *ret_reading)
{
	return flextrace_qemu_read(self, core, ret_reading);
}

static const char *qemu_elf(const struct options *options)
{
	const struct flextrace_qemu_options cores = {.isa = options->isa};
	return flextrace_qemu_elf(&cores);
}

const struct backend qemu_backend = {
	.name = "RISC-V cores on QEMU",
	.open = qemu_open,
	.close = qemu_close,
	.submit = qemu_submit,
	.wait = qemu_wait,
	.area = qemu_area,
	.read = qemu_read,
	.elf = qemu_elf,
};

const struct backend *backend_of(const struct options *options)
{
	return options->is_qemu ? &qemu_backend : &emulator_backend;
}
