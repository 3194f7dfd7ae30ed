/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace: one command with sub-commands, each in its own file. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal/cli.h"

/* In the order a user meets them. Each line also stands in cli/CMakeLists.txt. */
/* clang-format off */
#define COMMANDS(X) \
	X(record)   \
	X(start)    \
	X(stop)     \
	X(status)   \
	X(snapshot) \
	X(convert)  \
	X(decode)   \
	X(report)   \
	X(diff)     \
	X(doctor)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command name##_command;
COMMANDS(DECLARE_COMMAND)

static const struct command *const commands[] = {
#define LIST_COMMAND(name) &name##_command,
	COMMANDS(LIST_COMMAND)};

#define LARGE_BYTES (128 << 10)
#define N_COMMANDS  (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to)
{
	fprintf(to, "%sUsage:%s flextrace COMMAND [OPTION...] [OPERAND...]\n\n",
	        cli_style(to, CLI_BOLD), cli_style(to, CLI_PLAIN));
	fprintf(to, "Records what an accelerator's runtime does on host and device, and converts "
	            "it into\n"
	            "one timeline.\n\nCommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %s%-10s%s %s\n", cli_style(to, CLI_BOLD), commands[i]->name,
		        cli_style(to, CLI_PLAIN), commands[i]->summary);
	fprintf(to, "\n`flextrace record -- ./app` records, converts and prints a summary; "
	            "`flextrace doctor`\n"
	            "says what is missing if that fails. `flextrace COMMAND --help` explains a "
	            "command.\n");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	return cli_refuse(CLI_USAGE, "Unknown command `%s`; `flextrace --help` lists them", name);
}

/* The help page of all or of one command; or, for scripts, the commands, or the options of one. */
static int describe(int argc, char **argv, bool is_for_scripts)
{
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;

	if (argc > 1 && !command)
		return unknown_command(argv[1]);
	if (command && is_for_scripts)
		cli_list_options(command, stdout);
	else if (command)
		cli_help(command, stdout);
	else if (!is_for_scripts)
		print_usage(stdout);
	for (size_t i = 0; i < N_COMMANDS && !command && is_for_scripts; i++)
		printf("%s\t%s\n", commands[i]->name, commands[i]->summary);
	return CLI_OK;
}

/* Where standard input, output or error are closed, files and sockets must not take their places:
 * messages would go there, and liblttng-ctl takes socket 0 for none. As before, nothing can be read
 * or written there, and the recorded program finds them closed. */
static void occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("flextrace %s\n", FLEXTRACE_VERSION);
		return CLI_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return describe(argc - 1, argv + 1, false);
	if (strcmp(argv[1], "options") == 0)
		return describe(argc - 1, argv + 1, true);
	command = find_command(argv[1]);
	return command ? cli_run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* What was printed and found no room is an error; where it is closed, nobody wanted it. */
static int end_output(int code)
{
	bool has_failed = ferror(stdout), is_closed;

	errno = 0;
	has_failed |= fflush(stdout) != 0;
	is_closed = errno == EBADF;
	if (!has_failed || is_closed || code != CLI_OK)
		return code;
	return cli_refuse(CLI_OUTPUT, "Cannot write standard output: reason=%s",
	                  strerror(errno ? errno : EIO));
}

int main(int argc, char **argv)
{
	occupy_standard_descriptors();
	setlocale(LC_CTYPE, "");
	/* Large arrays that are freed go back to the system. Else glibc keeps them for others as
	 * large, which a conversion does not ask for again. */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	return end_output(run(argc, argv));
}
