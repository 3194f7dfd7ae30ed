/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: source.flextrace.flex-json and its like: files of other tools as messages of exactly
 * the event classes that the tracer has.
 *
 * - Parameter `inputs`: an array of paths, of files that are one component's. The query
 *   `babeltrace.support-info` knows files by their content; those of Flex are of one group, so that
 *   the ranks of a run become one component.
 * - One output port, `out`. Each rank is a trace of its own with one stream; definitions come
 *   first, then all events in order of time. Files are read, and sorted, when the iterator is made.
 * - What is rejected is told on standard error, once a file.
 */
#ifndef FLEXTRACE_BT2_SOURCE_H
#define FLEXTRACE_BT2_SOURCE_H

#include <babeltrace2/babeltrace.h>

/* The methods in which components differ: each knows the files of one dialect. */
#define SOURCE_METHODS(name)                                                                   \
	bt_component_class_initialize_method_status source_##name##_initialize(                \
		bt_self_component_source *self,                                                \
		bt_self_component_source_configuration *configuration, const bt_value *params, \
		void *data);                                                                   \
	bt_component_class_query_method_status source_##name##_query(                          \
		bt_self_component_class_source *self, bt_private_query_executor *executor,     \
		const char *object, const bt_value *params, void *data,                        \
		const bt_value **ret_result)

SOURCE_METHODS(flex);
SOURCE_METHODS(torch);
SOURCE_METHODS(marker_area);
SOURCE_METHODS(tt);
SOURCE_METHODS(aie);

void source_finalize(bt_self_component_source *self);

bt_message_iterator_class_initialize_method_status
source_iterator_initialize(bt_self_message_iterator *self,
                           bt_self_message_iterator_configuration *configuration,
                           bt_self_component_port_output *port);
void source_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status source_next(bt_self_message_iterator *self,
                                                         bt_message_array_const messages,
                                                         uint64_t capacity, uint64_t *ret_n);

#endif
