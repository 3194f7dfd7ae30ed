/* SPDX-License-Identifier: Apache-2.0 */
/* test_drain_soak [MARKERS]: the cores are threads of the emulator. */
#include "soak_fixture.h"

static void *soak_create(const struct flextrace_emulator_config *config)
{
	struct flextrace_emulator *emulator = NULL;

	return flextrace_emulator_create(config, &emulator) == 0 ? emulator : NULL;
}

static int soak_destroy(void *device)
{
	return flextrace_emulator_destroy(device);
}

static int soak_submit(void *device, const struct flextrace_emulator_job *job, uint64_t *ret_ticket)
{
	return flextrace_emulator_submit(device, job, ret_ticket);
}

static int soak_wait(void *device, uint32_t core, uint64_t ticket,
                     struct flextrace_emulator_completion *ret_completion)
{
	return flextrace_emulator_wait(device, core, ticket, ret_completion);
}

static void *soak_area(void *device, uint32_t core, size_t *ret_bytes)
{
	return flextrace_emulator_area(device, core, ret_bytes);
}

int main(int argc, char **argv)
{
	return soak_main(argc, argv);
}
