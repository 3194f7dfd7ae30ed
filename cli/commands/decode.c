/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace decode: what stands in dumped marker areas, as text and as a timeline. */
#include <stdint.h>

#include "report/area_text.h"
#include "terminal/cli.h"
#include "report/marker_names.h"

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

static int decode(const char *const *paths, uint32_t n_paths, const struct text_list *images,
                  struct flextrace_error *error)
{
	struct area_list areas = {.warn = cli_pass_warning};
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

static int run(void *values, int n_operands, char **operands)
{
	const char *const *paths = (const char *const *)operands;
	struct conversion_options *options = values;
	uint32_t n_paths = (uint32_t)n_operands;
	struct flextrace_error error = {0};

	if (n_paths == 0)
		return cli_refuse(CLI_USAGE,
		                  "File is missing; `flextrace decode --help` shows the usage");
	if (!cli_is_quiet() && decode(paths, n_paths, &options->plain.names, &error) < 0)
		return cli_fail(&error);
	options->as = "marker-area";
	return options->output_dir ? convert_traces(paths, n_paths, options, 1) : CLI_OK;
}

static const char *const option_names[] = {"names", "output-dir", "nominal-mhz", NULL};

const struct command decode_command = {
	.name = "decode",
	.operands = "FILE...",
	.summary = "Show marker areas in copies of device memory",
	.text = "Finds the marker areas in each FILE, a copy of memory of a device or of a part of "
		"it, and prints what the firmware left in them: its last runs and the records of "
		"the ring. For devices that hang, or that no host has read. With -o it converts "
		"the areas, too; a cycle is a ns then, unless --nominal-mhz says another rate.",
	.tables = {{conversion_option_table, .names = option_names}},
	.options_bytes = sizeof(struct conversion_options),
	.defaults = &(const struct conversion_options)CONVERSION_OPTIONS_INIT,
	.run = run,
};
