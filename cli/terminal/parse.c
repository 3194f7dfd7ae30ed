/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines and help pages, both from the option tables. */
#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/cli.h"
#include "profile.h"

#define MAX_OPTIONS  64
#define HELP_COLUMN  31 /* where texts begin on a help page */
#define HELP_COLUMNS 80

/* getopt's view of a command: long options by index, short ones by letter. */
struct parser {
	struct option longs[MAX_OPTIONS + 3];
	const struct option_spec *specs[MAX_OPTIONS];
	void *values[MAX_OPTIONS];
	int n;
	char letters[3 * MAX_OPTIONS];
};

enum { CODE_SPEC = 256 }; /* getopt's value of the first long option; below: letters */

static void add_letter(struct parser *parser, char letter, int has_argument)
{
	char *end = parser->letters + strlen(parser->letters);

	*end++ = letter;
	if (has_argument != no_argument)
		*end++ = ':';
	if (has_argument == optional_argument)
		*end++ = ':';
	*end = '\0';
}

static int argument_of(const struct option_spec *spec)
{
	switch (spec->type) {
	case OPTION_FLAG:
	case OPTION_WORD:
	case OPTION_LIMIT:
	case OPTION_BUDGET:
		return optional_argument;
	default:
		return required_argument;
	}
}

/* Whether a command takes this option of one of its tables. */
static bool is_taken(const struct command_table *table, const struct option_spec *spec)
{
	const char *const *name = table->names;

	while (name && *name && strcmp(*name, spec->name) != 0)
		name++;
	return !name || *name;
}

static void add_option(struct parser *parser, const struct option_spec *spec, void *values)
{
	int n = parser->n++;

	assert(n < MAX_OPTIONS);
	parser->specs[n] = spec;
	parser->values[n] = values;
	parser->longs[n] = (struct option){spec->name, argument_of(spec), NULL, CODE_SPEC + n};
	if (spec->letter)
		add_letter(parser, spec->letter,
		           spec->type == OPTION_FLAG ? no_argument : argument_of(spec));
}

static void add_table(struct parser *parser, const struct command_table *table, char *options)
{
	for (const struct option_spec *spec = table->specs; spec->name; spec++)
		if (is_taken(table, spec))
			add_option(parser, spec, options + table->offset);
}

static void parser_init(struct parser *parser, const struct command *command, char *options)
{
	*parser = (struct parser){.n = 0};
	strcpy(parser->letters, command->stops_at_operand ? "+:" : ":");
	for (const struct command_table *table = command->tables; table->specs; table++)
		add_table(parser, table, options);
	parser->longs[parser->n] = (struct option){"help", no_argument, NULL, 'h'};
	parser->longs[parser->n + 1] = (struct option){"quiet", no_argument, NULL, 'q'};
	add_letter(parser, 'h', no_argument);
	add_letter(parser, 'q', no_argument);
}

static int find_letter(const struct parser *parser, int letter)
{
	for (int i = 0; i < parser->n; i++)
		if (parser->specs[i]->letter == letter)
			return i;
	return -1;
}

static int usage_error(const struct command *command, const char *what, const char *option)
{
	return cli_refuse(CLI_USAGE, "%s `%s`; `flextrace %s --help` lists the options", what,
	                  option, command->name);
}

/* `word` is what getopt stood at. */
static int parse_one(const struct parser *parser, const struct command *command, int code,
                     const char *word)
{
	int i = code >= CODE_SPEC ? code - CODE_SPEC : find_letter(parser, code);
	char letter[] = {'-', (char)optopt, '\0'};
	struct flextrace_error error = {0};

	if (code == '?')
		return usage_error(command, "Unknown or misused option",
		                   optopt > 0 && optopt < CODE_SPEC ? letter : word);
	if (code == ':')
		return usage_error(command, "Value is missing behind option", word);
	profile_note_given(parser->specs[i], parser->values[i]);
	if (option_parse(parser->specs[i], optarg, parser->values[i], &error) < 0)
		return cli_fail(&error);
	return CLI_OK;
}

/* Reads the options; operands are moved behind them, from `optind` on. */
static int parse_options(const struct parser *parser, const struct command *command, int argc,
                         char **argv)
{
	int code, status = CLI_OK;

	optind = 0; /* glibc: start anew, with the first letters in mind */
	opterr = 0;
	while (status == CLI_OK &&
	       (code = getopt_long(argc, argv, parser->letters, parser->longs, NULL)) != -1) {
		if (code == 'h') {
			cli_help(command, stdout);
			return CLI_HELP;
		}
		if (code == 'q')
			cli_set_quiet(true);
		else
			status = parse_one(parser, command, code, argv[optind - 1]);
	}
	return status;
}

static int parse(const struct command *command, int argc, char **argv, char *options)
{
	struct flextrace_error error = {0};
	struct parser parser;
	int code;

	parser_init(&parser, command, options);
	code = parse_options(&parser, command, argc, argv);
	if (code != CLI_OK)
		return code;
	for (const struct command_table *table = command->tables; table->specs; table++)
		if (table->specs == conversion_option_table &&
		    profile_read((void *)(options + table->offset), &error) < 0)
			return cli_fail(&error);
	if (optind < argc && !command->operands[0])
		return cli_refuse(CLI_USAGE,
		                  "Unexpected operand `%s`; `flextrace %s --help` shows the usage",
		                  argv[optind], command->name);
	return CLI_OK;
}

static void release(const struct command *command, char *options)
{
	for (const struct command_table *table = command->tables; table->specs; table++) {
		if (table->specs == conversion_option_table)
			conversion_options_release((void *)(options + table->offset));
		else
			options_release(table->specs, options + table->offset);
	}
	free(options);
}

int cli_run(const struct command *command, int argc, char **argv)
{
	char *options = calloc(1, command->options_bytes + 1);
	int code;

	if (!options)
		return cli_refuse(CLI_INPUT, "Out of memory");
	if (command->defaults)
		memcpy(options, command->defaults, command->options_bytes);
	code = parse(command, argc, argv, options);
	if (code == CLI_OK)
		code = command->run(options, argc - optind, argv + optind);
	release(command, options);
	return code == CLI_HELP ? CLI_OK : code;
}

/* Prints words, in lines of the page that all begin at a column, where the cursor stands. */
static void help_text(FILE *to, const char *text, int begin)
{
	int column = begin;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (column > begin && column + 1 + n > HELP_COLUMNS)
			column = fprintf(to, "\n%*s", begin, "") - 1;
		column += fprintf(to, "%s%.*s", column > begin ? " " : "", n, text);
		text += text[n] ? n + 1 : n;
	}
	fputc('\n', to);
}

static void help_line(FILE *to, char letter, const char *name, const char *argument,
                      const char *help)
{
	char left[48];
	int n = letter ? snprintf(left, sizeof(left), "  -%c, --%s%s", letter, name, argument)
	               : snprintf(left, sizeof(left), "      --%s%s", name, argument);

	fputs(left, to);
	if (n < HELP_COLUMN)
		fprintf(to, "%*s", HELP_COLUMN - n, "");
	else
		fprintf(to, "\n%*s", HELP_COLUMN, "");
	help_text(to, help, HELP_COLUMN);
}

/* What holds without an option: in words, or the value that the command begins with. Owned; NULL:
 * nothing that is worth saying. */
static char *default_of(const struct command *command, const struct command_table *table,
                        const struct option_spec *spec)
{
	char *text = NULL;

	if (spec->fallback)
		return strdup(spec->fallback);
	if (command->defaults)
		text = option_text(spec, (const char *)command->defaults + table->offset);
	if (text && text[0] && strcmp(text, "0") != 0 && strcmp(text, "no") != 0)
		return text;
	free(text);
	return NULL;
}

static void help_option(FILE *to, const struct option_spec *spec, const char *initial)
{
	char argument[32] = "", help[256];

	if (spec->type == OPTION_WORD || spec->type == OPTION_LIMIT || spec->type == OPTION_BUDGET)
		snprintf(argument, sizeof(argument), "[=%s]", spec->metavar);
	else if (spec->type != OPTION_FLAG)
		snprintf(argument, sizeof(argument), "=%s", spec->metavar);
	snprintf(help, sizeof(help), "%s%s%s%s", spec->help, initial ? " (default: " : "",
	         initial ? initial : "", initial ? ")" : "");
	help_line(to, spec->letter, spec->name, argument, help);
}

/* A line of `flextrace options`: what scripts, man pages and completion make of it is theirs. */
static void list_option(FILE *to, const char *group, const struct option_spec *spec,
                        const char *initial)
{
	fprintf(to, "%s\t%.1s\t%s\t%s\t%s\t%s\t%g\t%g\t%s\n", group, &spec->letter, spec->name,
	        option_type_phrase(spec->type), spec->metavar ? spec->metavar : "",
	        initial ? initial : "", spec->min, spec->max, spec->help);
}

static void each_option(const struct command *command, FILE *to, bool is_list)
{
	for (const struct command_table *table = command->tables; table->specs; table++)
		for (const struct option_spec *spec = table->specs; spec->name; spec++) {
			char *initial = default_of(command, table, spec);

			if (is_taken(table, spec) && is_list)
				list_option(to, table->group ? table->group : command->name, spec,
				            initial);
			else if (is_taken(table, spec))
				help_option(to, spec, initial);
			free(initial);
		}
}

void cli_list_options(const struct command *command, FILE *to)
{
	each_option(command, to, true);
}

void cli_help(const struct command *command, FILE *to)
{
	fprintf(to, "%sUsage:%s flextrace %s [OPTION...]%s%s\n\n%s.\n", cli_style(to, CLI_BOLD),
	        cli_style(to, CLI_PLAIN), command->name, command->operands[0] ? " " : "",
	        command->operands, command->summary);
	if (command->text) {
		fputc('\n', to);
		help_text(to, command->text, 0);
	}
	fputs("\nOptions:\n", to);
	each_option(command, to, false);
	help_line(to, 'q', "quiet", "", "Print errors only");
	help_line(to, 'h', "help", "", "Print this page");
}
