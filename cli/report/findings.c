/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <stdarg.h>

#include "cli.h"

void findings_tell(struct findings *findings, enum verdict verdict, const char *mend,
                   const char *format, ...)
{
	static const enum cli_style styles[] = {CLI_GREEN, CLI_YELLOW, CLI_RED};
	static const char *const words[] = {"ok  ", "warn", "fail"};
	va_list arguments;

	findings->n_warnings += verdict == VERDICT_WARN;
	findings->n_failures += verdict == VERDICT_FAIL;
	printf("%s%s%s  ", cli_style(stdout, styles[verdict]), words[verdict],
	       cli_style(stdout, CLI_PLAIN));
	va_start(arguments, format);
	cli_vprint(stdout, format, arguments);
	va_end(arguments);
	printf("\n");
	if (mend) {
		cli_print(stdout, "      -> %s", mend);
		printf("\n");
	}
}
