/* SPDX-License-Identifier: Apache-2.0 */
#include "text_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

int text_list_add(struct text_list *list, const char *format, ...)
{
	va_list arguments;
	int length;

	FLEXTRACE_TRY(ARRAY_RESERVE(list->texts, list->n_allocated, list->n + 1ull));
	va_start(arguments, format);
	length = vasprintf(&list->texts[list->n], format, arguments);
	va_end(arguments);
	if (length < 0)
		return FLEXTRACE_E_MEMORY;
	list->n++;
	return FLEXTRACE_OK;
}

int text_list_take(struct text_list *to, struct text_list *from)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(to->texts, to->n_allocated, (uint64_t)to->n + from->n));
	for (uint32_t i = 0; i < from->n; i++)
		to->texts[to->n++] = from->texts[i];
	from->n = 0;
	return FLEXTRACE_OK;
}

void text_list_release(struct text_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->texts[i]);
	free(list->texts);
	*list = (struct text_list){0};
}
