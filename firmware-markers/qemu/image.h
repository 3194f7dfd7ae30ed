/* SPDX-License-Identifier: Apache-2.0 */
/* image.h: a firmware's ELF file into the memory of the device, as a driver does it. */
#ifndef QEMU_IMAGE_H
#define QEMU_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies what the file loads (32 or 64 bits, RISC-V) into `n` bytes of memory, which the device
 * sees at `address`, and clears the rest of each segment. -ENOENT and others: cannot be read;
 * -ENOEXEC: no such file, or it does not fit.
 */
int image_load(const char *path, uint8_t *bytes, size_t n, uint64_t address);

#endif
