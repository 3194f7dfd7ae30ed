/* SPDX-License-Identifier: Apache-2.0 */
#include "identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARENT_BYTES 48 /* of a name that others begin with */

uint64_t identity_hash(uint64_t hash, const void *bytes, uint64_t n_bytes)
{
	const unsigned char *at = bytes;

	for (uint64_t i = 0; i < n_bytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The parent as it stands in the name of a child. */
static void name_parent(char shown[PARENT_BYTES], const char *parent)
{
	size_t n = strlen(parent);

	if (n < PARENT_BYTES)
		memcpy(shown, parent, n + 1);
	else
		snprintf(shown, PARENT_BYTES, "#%016" PRIx64,
		         identity_hash(IDENTITY_HASH, parent, n));
}

void identity_child(char name[IDENTITY_BYTES], const char *parent, const char *kind, uint64_t n,
                    int first_rank)
{
	char shown[PARENT_BYTES];

	name_parent(shown, parent);
	snprintf(name, IDENTITY_BYTES, "%s/%s%" PRIu64 "@%d", shown, kind, n, first_rank);
}

void identity_of_some(char name[IDENTITY_BYTES], const char *parent, const char *kind,
                      int first_rank, uint64_t members, uint64_t n)
{
	char shown[PARENT_BYTES], made[IDENTITY_BYTES];

	name_parent(shown, parent);
	snprintf(made, sizeof(made), "%s%" PRIu64, shown, n);
	members = identity_hash(members, made, strlen(made));
	snprintf(name, IDENTITY_BYTES, "%s/%s@%d#%016" PRIx64, shown, kind, first_rank, members);
}
