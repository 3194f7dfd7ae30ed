/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

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
