/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"

struct file {
	const uint8_t *bytes; /* a mapping */
	size_t n;
};

static const void *at(const struct file *file, uint64_t offset, size_t bytes)
{
	if (offset > file->n || bytes > file->n - offset)
		return NULL;
	return file->bytes + offset;
}

struct memory {
	uint8_t *bytes;
	size_t n;
	uint64_t address;
};

static int load_segment(const struct file *file, const Elf64_Phdr *segment,
                        const struct memory *memory)
{
	uint64_t offset = segment->p_paddr - memory->address;
	const void *from = at(file, segment->p_offset, segment->p_filesz);

	if (segment->p_type != PT_LOAD)
		return 0;
	if (!from || segment->p_filesz > segment->p_memsz || offset > memory->n ||
	    segment->p_memsz > memory->n - offset)
		return -ENOEXEC;
	memcpy(memory->bytes + offset, from, segment->p_filesz);
	memset(memory->bytes + offset + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
	return 0;
}

static Elf64_Phdr widen(const Elf32_Phdr *segment)
{
	return (Elf64_Phdr){
		.p_type = segment->p_type,
		.p_offset = segment->p_offset,
		.p_paddr = segment->p_paddr,
		.p_filesz = segment->p_filesz,
		.p_memsz = segment->p_memsz,
	};
}

static int load_segments(const struct file *file, const struct memory *memory)
{
	const int is_64 = file->bytes[EI_CLASS] == ELFCLASS64;
	const size_t entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t table;
	uint16_t i, n;
	int ret = 0;

	if (is_64) {
		Elf64_Ehdr header;

		memcpy(&header, file->bytes, sizeof(header));
		table = header.e_phoff;
		n = header.e_phentsize == entry ? header.e_phnum : 0;
	} else {
		Elf32_Ehdr header;

		memcpy(&header, file->bytes, sizeof(header));
		table = header.e_phoff;
		n = header.e_phentsize == entry ? header.e_phnum : 0;
	}
	for (i = 0; i < n && ret == 0; i++) {
		const void *raw = at(file, table + i * entry, entry);
		Elf64_Phdr segment;
		Elf32_Phdr narrow;

		if (!raw)
			return -ENOEXEC;
		if (is_64) {
			memcpy(&segment, raw, sizeof(segment));
		} else {
			memcpy(&narrow, raw, sizeof(narrow));
			segment = widen(&narrow);
		}
		ret = load_segment(file, &segment, memory);
	}
	return n ? ret : -ENOEXEC;
}

static int load_file(const struct file *file, const struct memory *memory)
{
	Elf32_Ehdr header; /* the same in both classes up to e_machine */

	if (file->n < sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	memcpy(&header, file->bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_RISCV)
		return -ENOEXEC;
	return load_segments(file, memory);
}

int image_load(const char *path, uint8_t *bytes, size_t n, uint64_t address)
{
	const struct memory memory = {.bytes = bytes, .n = n, .address = address};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file file;
	struct stat status;
	int ret = -ENOEXEC;
	void *mapped;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0 || status.st_size == 0) {
		(void)close(fd);
		return -ENOEXEC;
	}
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	if (mapped == MAP_FAILED)
		return -ENOEXEC;
	file = (struct file){.bytes = mapped, .n = (size_t)status.st_size};
	ret = load_file(&file, &memory);
	(void)munmap(mapped, file.n);
	return ret;
}
