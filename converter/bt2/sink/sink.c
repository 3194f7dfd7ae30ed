/* SPDX-License-Identifier: Apache-2.0 */
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>

#include "bt2/read/intake.h"
#include "bt2/read/params.h"
#include "conversion.h"
#include "profile.h"

#define N_THREADS 2 /* for the formats, at the end; each more takes memory of its own */

struct sink {
	struct intake intake;              /* first; owned */
	struct conversion_options options; /* texts weak, in `params` */
	const bt_value *params;            /* owned reference */
	struct string_pool *strings;       /* owned */
	struct feed feed;                  /* owned */
};

#define APPEND_CAUSE(self, ...)                              \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_sink_as_self_component(self), __VA_ARGS__)

static struct sink *sink_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static void sink_free(struct sink *sink)
{
	intake_release(&sink->intake);
	feed_release(&sink->feed);
	string_pool_free(sink->strings);
	conversion_options_release(&sink->options);
	bt_value_put_ref(sink->params);
	free(sink);
}

/* Allocates a sink; NULL: no memory. */
static struct sink *sink_new(const bt_value *params)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	sink->options = (struct conversion_options)CONVERSION_OPTIONS_INIT;
	sink->options.n_threads = N_THREADS;
	sink->params = params;
	bt_value_get_ref(params);
	sink->strings = string_pool_new();
	if (sink->strings && feed_init(&sink->feed, sink->strings) == 0)
		return sink;
	sink_free(sink);
	return NULL;
}

static int read_params(struct sink *sink, struct flextrace_error *error)
{
	static const struct option_spec *const tables[] = {conversion_option_table,
	                                                   aie_option_table, NULL};
	static const struct params_known known = {NULL, tables};

	FLEXTRACE_TRY(params_read(sink->params, &known, &sink->options, error));
	FLEXTRACE_TRY(profile_read(&sink->options, error));
	return conversion_check(&sink->options, error);
}

bt_component_class_initialize_method_status
sink_initialize(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
                const bt_value *params, void *data)
{
	struct sink *sink = sink_new(params);
	struct flextrace_error error = {0};
	bt_component_class_initialize_method_status status;

	(void)configuration;
	(void)data;
	if (!sink) {
		APPEND_CAUSE(self, "Out of memory");
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	if (read_params(sink, &error) < 0) {
		APPEND_CAUSE(self, "%s", error.message);
		sink_free(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = intake_init(&sink->intake, self, &sink->feed);
	if (status != BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK) {
		sink_free(sink);
		return status;
	}
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), sink);
	return status;
}

void sink_finalize(bt_self_component_sink *self)
{
	sink_free(sink_of(self));
}

/* babeltrace2 shows nothing of what is no failure. */
static void warn(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "flextrace: warning: %s\n", text);
}

/* Everything is read: writes the files. */
static int convert(struct sink *sink, struct flextrace_error *error)
{
	struct pipeline_result result = {0};

	feed_detach(&sink->feed);
	sink->options.warn = warn;
	feed_warn(&sink->feed, warn, NULL);
	if (feed_book_losses(&sink->feed) < 0)
		return error_memory(error);
	FLEXTRACE_TRY(conversion_run(&sink->options, &sink->feed.set, sink->strings,
	                             &sink->feed.decoder.ledger, &result, error));
	if (result.is_lossy)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Converted, but records were lost: lost=%llu, fail-on-loss=%llu",
		                 (unsigned long long)result.lost,
		                 (unsigned long long)sink->options.plain.fail_on_loss.value);
	return 0;
}

bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);
	struct flextrace_error error = {0};
	bt_component_class_sink_consume_method_status status = intake_consume(&sink->intake);

	if (status == BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END &&
	    convert(sink, &error) < 0) {
		APPEND_CAUSE(self, "%s", error.message[0] ? error.message : "Out of memory");
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	return status;
}
