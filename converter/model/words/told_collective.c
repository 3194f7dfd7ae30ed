/* SPDX-License-Identifier: Apache-2.0 */
#include "told_collective.h"

#include <stdio.h>

#include "base/hash.h"

/* Of the list as it stands there, but for blanks: long ones are told as "[0, 1, ..., 7]". */
static uint64_t hash_of(const struct trace_text *list)
{
	uint64_t hash = HASH_NO_BYTES;

	for (size_t i = 0; i < list->length; i++) {
		if (list->bytes[i] != ' ')
			hash = hash_byte(hash, (unsigned char)list->bytes[i]);
	}
	return hash;
}

bool told_collective_read(const char *text, size_t n_bytes, struct told_collective *ret)
{
	struct trace_value name, ranks;
	struct told told;

	*ret = (struct told_collective){.n_ranks = 0};
	if (!told_is_likely(text) || !told_read(text, n_bytes, &told) ||
	    !told_find(&told, "Collective name", &name) || name.kind != TRACE_TEXT)
		return false;
	snprintf(ret->op, sizeof(ret->op), "%.*s",
	         (int)(name.text.length < sizeof(ret->op) ? name.text.length : sizeof(ret->op)),
	         name.text.bytes);
	ret->has_seq = told_find_u64(&told, "Seq", &ret->seq);
	told_find_u64(&told, "Group size", &ret->n_ranks);
	if (told_find(&told, "Process Group Ranks", &ranks))
		ret->who = hash_of(&ranks.text);
	return true;
}

uint32_t told_collective_element(const struct trace_text *type)
{
	static const struct {
		const char *name;
		uint32_t n_bytes;
	} types[] = {
		{"Float", 4},
		{"Half", 2},
		{"BFloat16", 2},
		{"Double", 8},
		{"Byte", 1},
		{"Char", 1},
		{"Bool", 1},
		{"Short", 2},
		{"Int", 4},
		{"Long", 8},
		{"ComplexHalf", 4},
		{"ComplexFloat", 8},
		{"ComplexDouble", 16},
		{"UInt16", 2},
		{"UInt32", 4},
		{"UInt64", 8},
		{"Float8_e5m2", 1},
		{"Float8_e4m3fn", 1},
		{"Float8_e5m2fnuz", 1},
		{"Float8_e4m3fnuz", 1},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (trace_text_is(type, types[i].name))
			return types[i].n_bytes;
	}
	return 0;
}
