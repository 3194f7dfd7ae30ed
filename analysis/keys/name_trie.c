/* SPDX-License-Identifier: Apache-2.0 */
#include "name_trie.h"

#include <stdlib.h>

int name_trie_step(struct name_trie *trie, uint32_t around, uint32_t name, uint32_t *ret_node)
{
	int is_new;

	if (!trie->n)
		FLEXTRACE_TRY(ARRAY_PUSH(trie->nodes, trie->n, (struct name_node){0}));
	is_new = MAP_PLACE(&trie->index, around, name, trie->nodes, trie->n, ret_node);
	if (is_new > 0)
		trie->nodes[*ret_node] = (struct name_node){around, name};
	return is_new;
}

void name_trie_release(struct name_trie *trie)
{
	free(trie->nodes);
	map_release(&trie->index);
	*trie = (struct name_trie){0};
}

void name_trie_write_name(struct writer *writer, const char *name)
{
	for (size_t n; *name; name += n) {
		n = strcspn(name, ";%\n\r");
		writer_append(writer, name, n);
		if (!name[n])
			break;
		writer_format(writer, "%%%02X", (unsigned char)name[n]);
		n++;
	}
}

int name_trie_write(const struct name_trie *trie, const struct string_pool *strings, uint32_t node,
                    struct writer *writer)
{
	uint32_t *way = NULL, n = 0;
	int code = FLEXTRACE_OK;

	for (; node && code == FLEXTRACE_OK; node = trie->nodes[node].around)
		code = ARRAY_PUSH(way, n, node);
	for (uint32_t i = n; i-- > 0 && code == FLEXTRACE_OK;) {
		name_trie_write_name(writer, string_get(strings, trie->nodes[way[i]].name));
		if (i)
			writer_char(writer, ';');
	}
	free(way);
	return code;
}
