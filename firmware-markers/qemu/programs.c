/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <flextrace/qemu.h>

#include "programs.h"

#define IMAGE(name)                                                                            \
	{                                                                                      \
		FLEXTRACE_FIRMWARE_BUILD_DIR "/" name, FLEXTRACE_FIRMWARE_INSTALL_DIR "/" name \
	}

static const struct {
	const char *program, *cpu, *missing;
	const char *images[2]; /* in the build tree, else installed */
} cores[] = {
	[FLEXTRACE_QEMU_RV32IMAC] = {"qemu-system-riscv32", NULL,
                                     "qemu-system-riscv32 is not installed",
                                     IMAGE("firmware-rv32imac.elf")},
	[FLEXTRACE_QEMU_RV32IM] = {"qemu-system-riscv32", "rv32,a=false,c=false,f=false,d=false",
                                   "qemu-system-riscv32 is not installed",
                                   IMAGE("firmware-rv32im.elf")},
	[FLEXTRACE_QEMU_RV64IMAC] = {"qemu-system-riscv64", NULL,
                                     "qemu-system-riscv64 is not installed",
                                     IMAGE("firmware-rv64imac.elf")},
};

#define N_ISAS (sizeof(cores) / sizeof(cores[0]))

int programs_find(uint32_t isa, char *ret_path, size_t bytes)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		int length = snprintf(ret_path, bytes, "%.*s/%s", (int)n, path, cores[isa].program);

		if (n > 0 && (size_t)length < bytes && access(ret_path, X_OK) == 0)
			return 0;
		path += n + (path[n] == ':');
	}
	return -ENOENT;
}

const char *programs_cpu(uint32_t isa)
{
	return cores[isa].cpu;
}

const char *flextrace_qemu_elf(const struct flextrace_qemu_options *options)
{
	const char *const *images =
		cores[options && options->isa < N_ISAS ? options->isa : 0].images;

	if (options && options->elf_path)
		return options->elf_path;
	return access(images[0], R_OK) == 0 ? images[0] : images[1];
}

int flextrace_qemu_check(const struct flextrace_qemu_options *options, const char **ret_why)
{
	uint32_t isa = options ? options->isa : 0;
	const char *why = NULL;
	char path[4096];

	if (isa >= N_ISAS)
		return -EINVAL;
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		why = "the memory of the cores is little-endian, this machine is not";
	else if (programs_find(isa, path, sizeof(path)) < 0)
		why = cores[isa].missing;
	else if (access(flextrace_qemu_elf(options), R_OK) < 0)
		why = "there is no firmware image; building it takes clang and lld";
	if (why && ret_why)
		*ret_why = why;
	return why ? -ENOENT : 0;
}
