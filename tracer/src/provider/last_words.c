/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "last_words.h"

#include <dlfcn.h>
#include <link.h>
#include <lttng/ust-fork.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The map of the object that holds `function`, NULL if it is not known. */
static const struct link_map *map_of(void (*function)(sigset_t *set))
{
	struct link_map *map = NULL;
	Dl_info info;
	void *address;

	memcpy(&address, &function, sizeof(address));
	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Writes where the loader may have made memory read-only after relocation. */
static void set_word(ElfW(Xword) * word, ElfW(Xword) value)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = (char *)word - (size_t)word % page_bytes;

	if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0)
		*word = value;
}

void last_words_skip(void)
{
	const struct link_map *map = map_of(lttng_ust_before_fork);
	ElfW(Dyn) * entry;

	for (entry = map ? map->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_FINI_ARRAYSZ && entry->d_un.d_val)
			set_word(&entry->d_un.d_val, 0);
}
