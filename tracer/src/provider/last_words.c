/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "last_words.h"

#include <dlfcn.h>
#include <link.h>
#include <lttng/urcu/urcu-ust.h>
#include <lttng/ust-fork.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Known from the start: to ask takes the loader's lock. */
static const struct link_map *ust, *common, *own;
static void *last_word;

static void *address_of(void (*function)(void))
{
	void *address;

	memcpy(&address, &function, sizeof(address));
	return address;
}

/* The object that holds an address, NULL if it is not known. */
static const struct link_map *map_of(void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Writes where the loader may have made memory read-only after relocation. */
static int set_word(void *at, const void *value, size_t size)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = (char *)at - (size_t)at % page_bytes;

	if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
		return -1;
	memcpy(at, value, size);
	return 0;
}

static ElfW(Dyn) * find_entry(const struct link_map *map, ElfW(Sxword) tag)
{
	ElfW(Dyn) *entry = map ? map->l_ld : NULL;

	while (entry && entry->d_tag != DT_NULL && entry->d_tag != tag)
		entry++;
	return entry && entry->d_tag == tag ? entry : NULL;
}

/* Leaves an object one destructor, or none. */
static void leave_destructor(const struct link_map *map, void *destructor)
{
	ElfW(Dyn) *size = find_entry(map, DT_FINI_ARRAYSZ), *array = find_entry(map, DT_FINI_ARRAY);
	ElfW(Xword) n_bytes = destructor ? sizeof(destructor) : 0;

	if (!size || !array || size->d_un.d_val < n_bytes)
		return;
	if (!destructor || set_word((void *)(map->l_addr + array->d_un.d_ptr), &destructor,
	                            sizeof(destructor)) == 0)
		set_word(&size->d_un.d_val, &n_bytes, sizeof(n_bytes));
}

/* Of all that was registered with atexit() this comes nearly last, and before any destructor. */
static void skip(void)
{
	leave_destructor(ust, NULL);
	leave_destructor(common, NULL);
	leave_destructor(own, last_word);
}

void last_words_init(void (*last)(void))
{
	last_word = address_of(last);
	ust = map_of(address_of((void (*)(void))lttng_ust_before_fork));
	common = map_of(address_of(lttng_ust_urcu_before_fork));
	own = map_of(last_word);
	atexit(skip);
}
