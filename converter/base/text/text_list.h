/* SPDX-License-Identifier: Apache-2.0 */
/* text_list.h: lists of texts that they own. Zeros are an empty one. */
#ifndef FLEXTRACE_TEXT_LIST_H
#define FLEXTRACE_TEXT_LIST_H

#include <stdint.h>

struct text_list {
	char **texts; /* owned, each owned */
	uint32_t n, n_allocated;
};

/* Adds what printf would make. FLEXTRACE_E_MEMORY or 0. */
int text_list_add(struct text_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Moves all texts of `from` behind those of `to`. FLEXTRACE_E_MEMORY or 0. */
int text_list_take(struct text_list *to, struct text_list *from);

void text_list_release(struct text_list *list);

#endif
