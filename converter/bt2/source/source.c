/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bt2/read/params.h"
#include "source_stream.h"
#include "formats/all/each_format.h"
#include "base/text/printable.h"

/* -- the component ----------------------------------------------------------------------------- */

struct source {
	const char **paths;     /* owned; texts weak, of `inputs` */
	const bt_value *inputs; /* owned reference */
	struct conversion_options options;
	struct import_options import; /* of these paths; points to `options` */
};

#define APPEND_CAUSE(self, ...)                              \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_source_as_self_component(self), __VA_ARGS__)

static void source_free(struct source *source)
{
	free(source->paths);
	bt_value_put_ref(source->inputs);
	free(source);
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The parameters beside the paths. */
static int read_options(struct source *source, const bt_value *params,
                        struct flextrace_error *error)
{
	static const struct option_spec *const none[] = {NULL}, *const of_aie[] = {
									aie_import_option_table,
									NULL};
	const struct params_known known = {"inputs",
	                                   source->import.dialect == IMPORT_AIE ? of_aie : none};

	source->options = (struct conversion_options)CONVERSION_OPTIONS_INIT;
	source->import.aie = &source->options.findings.aie;
	return params_read(params, &known, &source->options, error);
}

/* Takes the paths; they are read in order of their names, whoever found them. */
static int read_inputs(struct source *source, const bt_value *params, struct flextrace_error *error)
{
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
	uint64_t n = inputs && bt_value_is_array(inputs) ? bt_value_array_get_length(inputs) : 0;
	bool is_good = n > 0;

	source->import.paths = source->paths = calloc(n + 1, sizeof(*source->paths));
	if (!source->paths)
		return error_memory(error);
	source->inputs = inputs;
	bt_value_get_ref(inputs);
	for (uint64_t i = 0; i < n && is_good; i++) {
		const bt_value *path = bt_value_array_borrow_element_by_index_const(inputs, i);

		is_good = bt_value_is_string(path);
		if (is_good)
			source->paths[source->import.n_paths++] = bt_value_string_get(path);
	}
	if (!is_good)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Parameter `inputs` takes an array of paths");
	qsort(source->paths, source->import.n_paths, sizeof(*source->paths), compare_paths);
	return FLEXTRACE_OK;
}

/* Names of files are in it, which must not drive a terminal. */
static void warn(void *context, const char *text)
{
	char printed[1024];

	(void)context;
	snprintf(printed, sizeof(printed), "%s", text);
	printable_make(printed);
	fprintf(stderr, "flextrace: %s\n", printed);
}

static enum import_dialect dialect_of(bt_self_component_source *self)
{
	const bt_component *component = bt_component_source_as_component_const(
		bt_self_component_source_as_component_source(self));

	return source_kind_of(bt_component_borrow_class_const(component))->dialect;
}

bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self,
                  bt_self_component_source_configuration *configuration, const bt_value *params,
                  void *data)
{
	struct source *source = calloc(1, sizeof(*source));
	struct flextrace_error error = {0};
	int code = FLEXTRACE_E_MEMORY;

	(void)configuration;
	(void)data;
	if (source) {
		source->import = (struct import_options){.dialect = dialect_of(self), .warn = warn};
		code = read_options(source, params, &error);
	}
	if (code == FLEXTRACE_OK)
		code = read_inputs(source, params, &error);
	if (code == FLEXTRACE_OK &&
	    bt_self_component_source_add_output_port(self, "out", NULL, NULL) == 0) {
		bt_self_component_set_data(bt_self_component_source_as_self_component(self),
		                           source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	if (source)
		source_free(source);
	if (code != FLEXTRACE_E_USAGE)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	APPEND_CAUSE(self, "%s", error.message);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void source_finalize(bt_self_component_source *self)
{
	source_free(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

/* -- the iterator ------------------------------------------------------------------------------ */

struct iterator {
	struct import *import;         /* owned */
	struct source_stream *streams; /* owned */
	uint32_t n_streams, n_begun, n_ended;
	bool is_over; /* there are no more events */
};

static void iterator_free(struct iterator *iterator)
{
	for (uint32_t i = 0; i < iterator->n_streams; i++)
		source_stream_release(&iterator->streams[i]);
	free(iterator->streams);
	import_close(iterator->import);
	free(iterator);
}

/* One port gives events in one order: of streams that count from one time. */
static int check_clocks(const struct import *import, struct flextrace_error *error)
{
	for (uint32_t i = 1; i < import->n_streams; i++) {
		if (import->streams[i].clock_offset_ns != import->streams[0].clock_offset_ns)
			return error_set(error, FLEXTRACE_E_INPUT,
			                 "Files count from different times: give each a component "
			                 "of its own");
	}
	return FLEXTRACE_OK;
}

static int begin_streams(struct iterator *iterator, bt_self_component *self,
                         struct flextrace_error *error)
{
	const struct import *import = iterator->import;

	iterator->streams = calloc(import->n_streams, sizeof(*iterator->streams));
	if (!iterator->streams)
		return error_memory(error);
	for (; iterator->n_streams < import->n_streams; iterator->n_streams++) {
		uint32_t i = iterator->n_streams;
		const struct source_origin origin = {
			.stream = &import->streams[i],
			.losses = i ? NULL : &import->ledger,
		};

		if (source_stream_init(&iterator->streams[i], self, &origin) < 0)
			return error_memory(error);
	}
	return FLEXTRACE_OK;
}

static int open_files(struct iterator *iterator, const struct source *source,
                      bt_self_component *self, struct flextrace_error *error)
{
	FLEXTRACE_TRY(import_open(&source->import, &iterator->import, error));
	FLEXTRACE_TRY(check_clocks(iterator->import, error));
	return begin_streams(iterator, self, error);
}

bt_message_iterator_class_initialize_method_status
source_iterator_initialize(bt_self_message_iterator *self,
                           bt_self_message_iterator_configuration *configuration,
                           bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *iterator = calloc(1, sizeof(*iterator));
	struct flextrace_error error = {0};

	(void)configuration;
	(void)port;
	if (!iterator)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (open_files(iterator, bt_self_component_get_data(component), component, &error) < 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "%s",
		                                                           error.message);
		iterator_free(iterator);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, iterator);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void source_iterator_finalize(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	if (iterator)
		iterator_free(iterator);
}

/* Makes the next message: all streams begin, all events, all streams end. 1, 0: the end, or
 * negative. */
static int next_message(struct iterator *iterator, bt_self_message_iterator *self,
                        const bt_message **ret_message)
{
	struct event event;
	uint32_t stream;
	int code;

	if (iterator->n_begun < iterator->n_streams) {
		*ret_message = bt_message_stream_beginning_create(
			self, iterator->streams[iterator->n_begun++].stream);
		return *ret_message ? 1 : FLEXTRACE_E_MEMORY;
	}
	if (!iterator->is_over) {
		code = import_next(iterator->import, &stream, &event);
		FLEXTRACE_TRY(code);
		iterator->is_over = !code;
	}
	if (!iterator->is_over) {
		*ret_message = source_stream_message(&iterator->streams[stream], self, &event);
		return *ret_message ? 1 : FLEXTRACE_E_MEMORY;
	}
	if (iterator->n_ended == iterator->n_streams)
		return 0;
	*ret_message = bt_message_stream_end_create(self,
	                                            iterator->streams[iterator->n_ended++].stream);
	return *ret_message ? 1 : FLEXTRACE_E_MEMORY;
}

bt_message_iterator_class_next_method_status source_next(bt_self_message_iterator *self,
                                                         bt_message_array_const messages,
                                                         uint64_t capacity, uint64_t *ret_n)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);
	int code = 1;

	*ret_n = 0;
	while (*ret_n < capacity && code > 0) {
		code = next_message(iterator, self, &messages[*ret_n]);
		*ret_n += code > 0;
	}
	if (code >= 0)
		return *ret_n ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		              : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	for (uint64_t i = 0; i < *ret_n; i++)
		bt_message_put_ref(messages[i]);
	if (code == FLEXTRACE_E_MEMORY)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
		self, "Cannot sort events in a temporary file: set TMPDIR");
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}
