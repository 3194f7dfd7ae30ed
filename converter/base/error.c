/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct flextrace_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return code;
}

int error_memory(struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
}

void error_list(struct flextrace_error *error, const char *name)
{
	size_t used = error ? strlen(error->message) : 0;

	if (used)
		snprintf(error->message + used, sizeof(error->message) - used, "%s%s",
		         strchr("= ", error->message[used - 1]) ? "" : ", ", name);
}
