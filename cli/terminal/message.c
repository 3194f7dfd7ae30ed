/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, colour and the progress line of all commands. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/cli.h"
#include "base/text/printable.h"

static bool is_quiet;
static bool has_progress; /* a progress line stands on the terminal */

void cli_set_quiet(bool quiet)
{
	is_quiet = quiet;
}

bool cli_is_quiet(void)
{
	return is_quiet;
}

const char *cli_style(FILE *to, enum cli_style style)
{
	static const char *const sequences[] = {"\033[0m",  "\033[1m",  "\033[2m",
	                                        "\033[31m", "\033[33m", "\033[32m"};
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if ((no_color && no_color[0]) || !term || strcmp(term, "dumb") == 0 || !isatty(fileno(to)))
		return "";
	return sequences[style];
}

void cli_vprint(FILE *to, const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		return;
	printable_make(text);
	fputs(text, to);
	free(text);
}

void cli_print(FILE *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	cli_vprint(to, format, arguments);
	va_end(arguments);
}

int cli_say(enum cli_message kind, int code, const char *format, ...)
{
	static const struct {
		enum cli_style style;
		const char *label;
	} kinds[] = {{CLI_RED, "error: "}, {CLI_YELLOW, "warning: "}, {CLI_PLAIN, ""}};
	va_list arguments;

	if (kind == CLI_NOTE && is_quiet)
		return code;
	cli_progress_end();
	fprintf(stderr, "flextrace: %s%s%s", cli_style(stderr, kinds[kind].style),
	        kinds[kind].label, cli_style(stderr, CLI_PLAIN));
	va_start(arguments, format);
	cli_vprint(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return code;
}

void cli_pass_warning(void *context, const char *text)
{
	(void)context;
	cli_warn("%s", text);
}

int cli_fail(const struct flextrace_error *error)
{
	cli_error("%s", error->message[0] ? error->message : "Out of memory");
	switch (error->code) {
	case FLEXTRACE_E_USAGE:
		return CLI_USAGE;
	case FLEXTRACE_E_OUTPUT:
		return CLI_OUTPUT;
	default:
		return CLI_INPUT;
	}
}

uint32_t cli_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void cli_heading(FILE *to, const char *text)
{
	fprintf(to, "%s%s%s\n", cli_style(to, CLI_BOLD), text, cli_style(to, CLI_PLAIN));
}

void cli_progress(const char *format, ...)
{
	char line[256];
	uint32_t n_columns = cli_columns(STDERR_FILENO);
	va_list arguments;

	if (is_quiet || !n_columns)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, "\r%.*s\033[K", (int)n_columns - 1, line);
	fflush(stderr);
	has_progress = true;
}

void cli_progress_end(void)
{
	if (!has_progress)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	has_progress = false;
}
