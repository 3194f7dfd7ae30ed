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

/* A field of what has another layout in each of the two classes. */
#define FIELD(of, field) (is_64 ? (of).wide.field : (of).narrow.field)

static int load_segments(const struct file *file, const struct memory *memory)
{
	const int is_64 = file->bytes[EI_CLASS] == ELFCLASS64;
	const size_t entry = is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} header;
	union {
		Elf64_Phdr wide;
		Elf32_Phdr narrow;
	} segment;
	uint16_t i, n;
	int ret = 0;

	memcpy(&header, file->bytes, sizeof(header));
	n = FIELD(header, e_phentsize) == entry ? FIELD(header, e_phnum) : 0;
	for (i = 0; i < n && ret == 0; i++) {
		const void *raw = at(file, FIELD(header, e_phoff) + i * entry, entry);

		if (!raw)
			return -ENOEXEC;
		memcpy(&segment, raw, entry);
		ret = load_segment(file,
		                   &(const Elf64_Phdr){.p_type = FIELD(segment, p_type),
		                                       .p_offset = FIELD(segment, p_offset),
		                                       .p_paddr = FIELD(segment, p_paddr),
		                                       .p_filesz = FIELD(segment, p_filesz),
		                                       .p_memsz = FIELD(segment, p_memsz)},
		                   memory);
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
	void *mapped = MAP_FAILED;
	struct file file;
	struct stat status;
	int ret;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_size > 0)
		mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	if (mapped == MAP_FAILED)
		return -ENOEXEC;
	file = (struct file){.bytes = mapped, .n = (size_t)status.st_size};
	ret = load_file(&file, &memory);
	(void)munmap(mapped, file.n);
	return ret;
}
