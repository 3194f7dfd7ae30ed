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

void error_append(struct flextrace_error *error, const char *format, ...)
{
	size_t used = error ? strlen(error->message) : 0;
	va_list args;

	if (!error)
		return;
	va_start(args, format);
	vsnprintf(error->message + used, sizeof(error->message) - used, format, args);
	va_end(args);
}
