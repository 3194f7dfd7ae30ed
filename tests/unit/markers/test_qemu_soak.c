/* SPDX-License-Identifier: Apache-2.0 */
/* test_qemu_soak [MARKERS]: the cores are RISC-V harts under QEMU. 77 = skipped, with the why. */
#include "soak_fixture.h"

#include <flextrace/qemu.h>

static void *soak_create(const struct flextrace_emulator_config *config)
{
	static uint32_t n_created;
	const struct flextrace_qemu_options patient = {
		.isa = n_created++ % (FLEXTRACE_QEMU_RV64IMAC + 1), /* each in its turn */
		.timeout_ms = 600000,
	};
	struct flextrace_qemu *qemu = NULL;

	return flextrace_qemu_create(config, &patient, &qemu) == 0 ? qemu : NULL;
}

static int soak_destroy(void *device)
{
	return flextrace_qemu_destroy(device);
}

static int soak_submit(void *device, const struct flextrace_emulator_job *job, uint64_t *ret_ticket)
{
	return flextrace_qemu_submit(device, job, ret_ticket);
}

static int soak_wait(void *device, uint32_t core, uint64_t ticket,
                     struct flextrace_emulator_completion *ret_completion)
{
	return flextrace_qemu_wait(device, core, ticket, ret_completion);
}

static void *soak_area(void *device, uint32_t core, size_t *ret_bytes)
{
	return flextrace_qemu_area(device, core, ret_bytes);
}

int main(int argc, char **argv)
{
	const char *why;

	if (flextrace_qemu_check(NULL, &why) < 0) {
		printf("skipped: %s\n", why);
		return 77;
	}
	return soak_main(argc, argv);
}
