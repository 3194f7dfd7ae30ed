/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "elf_names.h"

/* Steps over a string; NULL if it does not end before `end`. */
static const char *skip_string(const char *at, const char *end)
{
	const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;

	return nul ? nul + 1 : NULL;
}

static uint32_t parse_line(const char *text)
{
	uint32_t line = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '9' || line > (UINT32_MAX - 9) / 10)
			return 0;
		line = line * 10 + (uint32_t)(*text - '0');
	}
	return line;
}

static int walk(const char *text, size_t bytes,
                void (*found)(void *context, const struct flextrace_elf_name *name), void *context)
{
	const char *end = text + bytes;
	const char *at = text;
	int n = 0;

	for (;;) {
		struct flextrace_elf_name name;
		const char *file, *line, *next;

		while (at < end && *at == '\0')
			at++;
		file = skip_string(at, end);
		line = file ? skip_string(file, end) : NULL;
		next = line ? skip_string(line, end) : NULL;
		if (!next)
			return n;
		name = (struct flextrace_elf_name){
			.id = (uint32_t)(at - text),
			.name = at,
			.file = file,
			.line = parse_line(line),
		};
		found(context, &name);
		n++;
		at = next;
	}
}

int flextrace_elf_names_read(const char *path,
                             void (*found)(void *context, const struct flextrace_elf_name *name),
                             void *context)
{
	struct flextrace_i_elf_section section;
	struct flextrace_i_elf elf;
	char *text = NULL;
	int ret = flextrace_i_elf_open(&elf, path);

	if (ret < 0)
		return ret;
	ret = flextrace_i_elf_find(&elf, ".flextrace.names", SHT_PROGBITS, &section);
	if (ret == -ENODATA)
		ret = flextrace_i_elf_find(&elf, "flextrace_names", SHT_PROGBITS, &section);
	if (ret == 0)
		ret = flextrace_i_elf_load(&elf, &section, &text);
	if (ret == 0)
		ret = walk(text, section.bytes, found, context);
	free(text);
	flextrace_i_elf_close(&elf);
	return ret;
}
