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

#include "formats/kit/dialect.h"

/* The files of a component, by the name of its class: those of one dialect. */
struct source_kind {
	const char *name;
	enum import_dialect dialect;
	const char *group; /* all its files are one component's; NULL: each is one of its own */
};

const struct source_kind *source_kind_of(const bt_component_class *class);

bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self,
                  bt_self_component_source_configuration *configuration, const bt_value *params,
                  void *data);
bt_component_class_query_method_status source_query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor,
                                                    const char *object, const bt_value *params,
                                                    void *data, const bt_value **ret_result);
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
