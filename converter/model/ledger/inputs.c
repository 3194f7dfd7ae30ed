/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* One of a stream, on its way to a number. */
struct input {
	const char *text;  /* weak: of a file "<tool> <path>"; NULL: a trace */
	const char *path;  /* weak: in it */
	const char *shown; /* weak: the end of it that is shown */
	const struct stream *stream;
	const char *host;  /* weak */
	uint32_t n_shared; /* parts of the path, from the end, that another file has as well */
	uint32_t place;    /* in the numbers of all streams */
};

/* -- order ------------------------------------------------------------------------------------- */

static int compare_traces(const struct input *a, const struct input *b)
{
	int order = memcmp(a->stream->trace_uuid, b->stream->trace_uuid,
	                   sizeof(a->stream->trace_uuid));

	return order ? order : strcmp(a->host, b->host);
}

static int compare_tools(const struct input *a, const struct input *b)
{
	size_t n_a = (size_t)(a->path - a->text), n_b = (size_t)(b->path - b->text);

	return strncmp(a->text, b->text, n_a > n_b ? n_a : n_b);
}

/* Of the tool, then what is shown of the path, then the path. */
static int compare_files(const struct input *a, const struct input *b)
{
	int order = compare_tools(a, b);

	if (!order)
		order = strcmp(a->shown, b->shown);
	return order ? order : strcmp(a->path, b->path);
}

static int compare_inputs(const void *left, const void *right)
{
	const struct input *a = left, *b = right;

	if (!a->text || !b->text)
		return a->text || b->text ? (a->text != NULL) - (b->text != NULL)
		                          : compare_traces(a, b);
	return compare_files(a, b);
}

/* -- names of files ---------------------------------------------------------------------------- */

/* Where the last part of a path up to `end` begins. */
static const char *part_before(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

/* How many parts two paths share, from the last one on; and which is the first by the one before
 * them. */
static uint32_t count_shared(const char *a, const char *b, int *ret_order)
{
	const char *end_a = a + strlen(a), *end_b = b + strlen(b);

	for (uint32_t n = 0;; n++) {
		const char *at_a = part_before(a, end_a), *at_b = part_before(b, end_b);
		size_t n_a = (size_t)(end_a - at_a), n_b = (size_t)(end_b - at_b);

		*ret_order = memcmp(at_a, at_b, n_a < n_b ? n_a : n_b);
		if (!*ret_order)
			*ret_order = (n_a > n_b) - (n_a < n_b);
		if (*ret_order)
			return n;
		*ret_order = (at_a > a) - (at_b > b);
		if (at_a == a || at_b == b)
			return n + 1;
		end_a = at_a - 1;
		end_b = at_b - 1;
	}
}

/* By tool, then by path from its end: those that look alike stand beside each other. */
static int compare_ends(const void *left, const void *right)
{
	const struct input *a = left, *b = right;
	int order = (a->text != NULL) - (b->text != NULL);

	if (!order && a->text)
		order = compare_tools(a, b);
	if (!order && a->text)
		count_shared(a->path, b->path, &order);
	return order;
}

/* Lets both be shown with a part more than they share, or, if they are one, as the other is. */
static void tell_apart(struct input *a, struct input *b)
{
	uint32_t n;
	int order;

	if (!a->text || !b->text || compare_tools(a, b))
		return;
	n = count_shared(a->path, b->path, &order);
	if (!order)
		n = a->n_shared > b->n_shared ? a->n_shared : b->n_shared;
	a->n_shared = n > a->n_shared ? n : a->n_shared;
	b->n_shared = n > b->n_shared ? n : b->n_shared;
}

/* The last `n` parts of a path; all of it where there are no more. */
static const char *last_parts(const char *path, uint32_t n)
{
	const char *at = part_before(path, path + strlen(path));

	while (--n && at > path)
		at = part_before(path, at - 1);
	return at;
}

static void name_files(struct input *all, uint32_t n)
{
	ORDER_ARRAY(all, n, compare_ends);
	for (uint32_t i = 1; i < n; i++)
		tell_apart(&all[i - 1], &all[i]);
	for (uint32_t i = n; i-- > 1;)
		tell_apart(&all[i - 1], &all[i]);
	for (uint32_t i = 0; i < n; i++)
		all[i].shown = all[i].text ? last_parts(all[i].path, all[i].n_shared + 1) : NULL;
	ORDER_ARRAY(all, n, compare_inputs);
}

/* -- numbers ----------------------------------------------------------------------------------- */

static char *text_of(const struct input *input)
{
	char uuid[STREAM_UUID_SIZE], *text;
	int n;

	if (input->text) {
		n = asprintf(&text, "%.*s%s", (int)(input->path - input->text), input->text,
		             input->shown);
	} else {
		stream_uuid_text(input->stream, uuid);
		n = asprintf(&text, "ctf %s %s", input->host, uuid);
	}
	return n < 0 ? NULL : text;
}

static bool is_same(const struct input *a, const struct input *b)
{
	if (!a->text || !b->text)
		return !a->text && !b->text && compare_traces(a, b) == 0;
	return strcmp(a->text, b->text) == 0;
}

static int number_all(struct inputs *inputs, const struct input *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!i || !is_same(&all[i], &all[i - 1])) {
			inputs->texts[inputs->n] = text_of(&all[i]);
			if (!inputs->texts[inputs->n])
				return FLEXTRACE_E_MEMORY;
			inputs->n++;
		}
		inputs->numbers[all[i].place] = inputs->n - 1;
	}
	return FLEXTRACE_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

static struct input input_of(const struct stream *stream, uint32_t file,
                             const struct string_pool *strings)
{
	struct input input = {.stream = stream, .host = string_get(strings, stream->host)};

	if (!stream->n_files)
		return input;
	input.text = string_get(strings, stream->files[file]);
	input.path = strchr(input.text, ' ');
	input.path = input.path ? input.path + 1 : input.text;
	return input;
}

static uint32_t n_inputs_of(const struct stream *stream)
{
	return stream->n_files ? stream->n_files : 1;
}

static int allocate(struct inputs *inputs, const struct stream_set *set, struct input **ret_all)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < set->n_streams; i++)
		n += n_inputs_of(set->streams[i]);
	if (n >= UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	inputs->n_numbers = (uint32_t)n;
	inputs->first = calloc(set->n_streams + 1ull, sizeof(*inputs->first));
	inputs->numbers = calloc(n + 1, sizeof(*inputs->numbers));
	inputs->texts = calloc(n + 1, sizeof(*inputs->texts));
	*ret_all = calloc(n + 1, sizeof(**ret_all));
	return inputs->first && inputs->numbers && inputs->texts && *ret_all ? FLEXTRACE_OK
	                                                                     : FLEXTRACE_E_MEMORY;
}

static int fill(struct inputs *inputs, struct input *all, const struct stream_set *set,
                const struct string_pool *strings)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n_streams; i++) {
		inputs->first[i] = n;
		for (uint32_t file = 0; file < n_inputs_of(set->streams[i]); file++, n++) {
			all[n] = input_of(set->streams[i], file, strings);
			all[n].place = n;
		}
	}
	name_files(all, n);
	return number_all(inputs, all, n);
}

int inputs_init(struct inputs *inputs, const struct stream_set *set,
                const struct string_pool *strings)
{
	struct input *all = NULL;
	int code;

	*inputs = (struct inputs){0};
	code = allocate(inputs, set, &all);
	if (code == 0)
		code = fill(inputs, all, set, strings);
	free(all);
	if (code < 0)
		inputs_release(inputs);
	return code;
}

void inputs_release(struct inputs *inputs)
{
	for (uint32_t i = 0; i < inputs->n; i++)
		free(inputs->texts[i]);
	free(inputs->texts);
	free(inputs->first);
	free(inputs->numbers);
	*inputs = (struct inputs){0};
}

void inputs_write_place(char text[SOURCE_BYTES], const struct inputs *inputs,
                        const struct stream *stream, uint32_t place)
{
	if (stream->n_files)
		snprintf(text, SOURCE_BYTES, "%" PRIu32, inputs->numbers[place]);
	else
		snprintf(text, SOURCE_BYTES, "%" PRIu32 "/%" PRIu64 ".%" PRIu64,
		         inputs->numbers[place], stream->class_id, stream->instance_id);
}
