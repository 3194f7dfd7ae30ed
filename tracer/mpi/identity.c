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

void identity_child(char name[IDENTITY_BYTES], const char *parent, const char *kind, uint64_t n,
                    int first_rank, uint64_t members)
{
	uint64_t hash = identity_hash(IDENTITY_HASH, parent, strlen(parent));
	char shown[PARENT_BYTES];
	int length;

	if (snprintf(shown, sizeof(shown), "%s", parent) >= PARENT_BYTES)
		snprintf(shown, sizeof(shown), "#%016" PRIx64, hash);
	length = snprintf(name, IDENTITY_BYTES, "%s/%s%" PRIu64 "@%d", shown, kind, n, first_rank);
	if (members && length < IDENTITY_BYTES)
		snprintf(name + length, (size_t)(IDENTITY_BYTES - length), "#%016" PRIx64, members);
}
