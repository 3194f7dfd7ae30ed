/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checked mode (FLEXTRACE_CHECK=1): a name that does not outlive its scope ends the program.
 * Linked only to programs that are compiled so. No malloc, no lock: scopes of signal handlers are
 * checked as well.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flextrace/flextrace.h>

#define N_SLOTS 4096u /* scopes that are open at a time; more are not checked */

/* The name of an open scope, which has `copy` in its place. */
struct slot {
	const char *name;
	uint32_t is_taken;
	char copy[100]; /* the beginning of longer ones */
};

static struct slot slots[N_SLOTS];
static uint32_t next_slot;

const char *flextrace_i_check_begin(const char *name)
{
	uint32_t i;

	for (i = 0; name && i < N_SLOTS; i++) {
		uint32_t at = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED) % N_SLOTS;
		struct slot *slot = &slots[at];

		if (__atomic_exchange_n(&slot->is_taken, 1, __ATOMIC_ACQUIRE))
			continue;
		slot->name = name;
		strncpy(slot->copy, name, sizeof(slot->copy) - 1);
		return slot->copy;
	}
	return name;
}

static struct slot *slot_of(const char *name)
{
	uintptr_t first = (uintptr_t)slots, at = (uintptr_t)name;

	return at >= first && at < first + sizeof(slots) ? &slots[(at - first) / sizeof(*slots)]
	                                                 : NULL;
}

const char *flextrace_i_check_end(const char *name, const char *file, uint32_t line)
{
	struct slot *slot = slot_of(name);

	if (!slot)
		return name;
	name = slot->name;
	if (strncmp(name, slot->copy, sizeof(slot->copy) - 1) != 0) {
		fprintf(stderr,
		        "flextrace: %s:%u: The name of a scope does not outlive the scope. It was "
		        "\"%s\" when the scope began, and is something else now. Keep the string "
		        "until the scope ends, or use flextrace.hpp, which copies names\n",
		        file, (unsigned int)line, slot->copy);
		abort();
	}
	__atomic_store_n(&slot->is_taken, 0, __ATOMIC_RELEASE);
	return name;
}
