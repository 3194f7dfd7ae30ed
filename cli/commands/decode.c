/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace decode: what stands in dumped marker areas, as text and as a timeline. */
#include <stddef.h>
#include <stdint.h>

#include "terminal/area_text.h"
#include "cli.h"
#include "marker_names.h"

struct decode_options {
	const char *output_dir;
	struct option_list names;
	double nominal_mhz;
};

#define AT(member) offsetof(struct decode_options, member)
static const struct option_spec option_table[] = {
	{"names", 0, OPTION_LIST, AT(names), "FILE",
         "Take marker names from a firmware image (may be repeated)", 0, 0},
	{"output-dir", 'o', OPTION_TEXT, AT(output_dir), "DIR",
         "Convert, too: write all files into DIR, which is created if missing", 0, 0},
	{"nominal-mhz", 0, OPTION_REAL, AT(nominal_mhz), "MHZ",
         "Frequency of the device counters, for -o (default: a cycle is a ns)", 1e-3, 1e6},
	{0}};
#undef AT

static void warn(void *context, const char *text)
{
	(void)context;
	cli_warn("%s", text);
}

static int print_all(const struct area_list *areas, const struct marker_names *names,
                     struct flextrace_error *error)
{
	for (uint32_t i = 0; i < areas->n; i++) {
		if (i)
			putchar('\n');
		FLEXTRACE_TRY(area_text_print(&areas->areas[i], names, stdout, error));
	}
	return FLEXTRACE_OK;
}

static int decode(const char *const *paths, uint32_t n_paths, const struct option_list *images,
                  struct flextrace_error *error)
{
	struct area_list areas = {.warn = warn};
	struct marker_names names = {.n = 0};
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < images->n && code >= 0; i++)
		code = marker_names_add(&names, images->texts[i], error);
	for (uint32_t i = 0; i < n_paths && code >= 0; i++)
		code = area_list_add(&areas, paths[i], error);
	if (code >= 0 && areas.n == 0)
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "There is no marker area in it, is it a copy of the device's "
		                 "memory? file=%s",
		                 paths[0]);
	if (code >= 0)
		code = print_all(&areas, &names, error);
	area_list_release(&areas);
	marker_names_release(&names);
	return code;
}

static int convert(const char *const *paths, uint32_t n_paths, const struct decode_options *options)
{
	struct conversion_options conversion = CONVERSION_OPTIONS_INIT;

	conversion.as = "marker-area";
	conversion.output_dir = options->output_dir;
	conversion.names = options->names;
	conversion.nominal_mhz = options->nominal_mhz;
	return convert_traces(paths, n_paths, &conversion, 1);
}

static int run_options(const char *const *paths, uint32_t n_paths,
                       const struct decode_options *options)
{
	struct flextrace_error error = {0};

	if (n_paths == 0) {
		cli_error("File is missing; `flextrace decode --help` shows the usage");
		return CLI_USAGE;
	}
	if (!cli_is_quiet() && decode(paths, n_paths, &options->names, &error) < 0)
		return cli_fail(&error);
	return options->output_dir ? convert(paths, n_paths, options) : CLI_OK;
}

static int run(const struct command *command, int argc, char **argv)
{
	struct decode_options options = {.output_dir = NULL};
	int first, code = cli_parse(command, argc, argv, (void *[]){&options}, &first);

	if (code == CLI_OK)
		code = run_options((const char *const *)argv + first, (uint32_t)(argc - first),
		                   &options);
	options_release(option_table, &options);
	return code == CLI_HELP ? CLI_OK : code;
}

const struct command decode_command = {
	.name = "decode",
	.operands = "FILE...",
	.summary = "Show marker areas in copies of device memory",
	.text = "Finds the marker areas in each FILE, a copy of memory of a device or of a "
		"part of it,\n"
		"and prints what the firmware left in them: its last runs and the records of the "
		"ring.\n"
		"For devices that hang, or that no host has read.",
	.tables = {option_table},
	.run = run,
};
