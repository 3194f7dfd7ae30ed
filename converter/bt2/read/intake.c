/* SPDX-License-Identifier: Apache-2.0 */
#include "intake.h"

#include <stdio.h>
#include <stdlib.h>

/* Appends a cause to the current thread's error, for a component. */
#define APPEND_CAUSE(intake, ...)                            \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_sink_as_self_component((intake)->component), __VA_ARGS__)

static bt_self_component_add_port_status add_port(struct intake *intake)
{
	char name[24];
	bt_self_component_add_port_status status;

	snprintf(name, sizeof(name), "in%u", intake->n_ports);
	status = bt_self_component_sink_add_input_port(intake->component, name, NULL, NULL);
	if (status == BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		intake->n_ports++;
	else
		APPEND_CAUSE(intake, "Cannot add an input port: name=%s", name);
	return status;
}

/* What a component's data begins with. */
static struct intake *intake_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

bt_component_class_initialize_method_status
intake_init(struct intake *intake, bt_self_component_sink *component, struct feed *feed)
{
	*intake = (struct intake){.component = component, .feed = feed};
	return (bt_component_class_initialize_method_status)add_port(intake);
}

void intake_release(struct intake *intake)
{
	for (uint64_t i = 0; i < intake->n_iterators; i++)
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(intake->iterators[i]);
	free(intake->iterators);
	intake->iterators = NULL;
	intake->n_iterators = 0;
}

bt_component_class_port_connected_method_status intake_connected(bt_self_component_sink *self,
                                                                 bt_self_component_port_input *port,
                                                                 const bt_port_output *other)
{
	(void)port;
	(void)other;
	return (bt_component_class_port_connected_method_status)add_port(intake_of(self));
}

static bt_message_iterator_create_from_sink_component_status
add_iterator(struct intake *intake, bt_self_component_port_input *port)
{
	bt_message_iterator_create_from_sink_component_status status =
		bt_message_iterator_create_from_sink_component(
			intake->component, port, &intake->iterators[intake->n_iterators]);

	if (status == BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
		intake->n_iterators++;
	else
		APPEND_CAUSE(intake, "Cannot read from an input port: port=%s",
		             bt_port_get_name(bt_port_input_as_port_const(
				     bt_self_component_port_input_as_port_input(port))));
	return status;
}

bt_component_class_sink_graph_is_configured_method_status
intake_configured(bt_self_component_sink *self)
{
	struct intake *intake = intake_of(self);
	uint64_t n = bt_component_sink_get_input_port_count(
		bt_self_component_sink_as_component_sink(intake->component));

	intake->iterators = calloc(n, sizeof(bt_message_iterator *));
	if (!intake->iterators) {
		APPEND_CAUSE(intake, "Out of memory");
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_MEMORY_ERROR;
	}
	for (uint64_t i = 0; i < n; i++) {
		bt_self_component_port_input *port =
			bt_self_component_sink_borrow_input_port_by_index(intake->component, i);
		bt_message_iterator_create_from_sink_component_status status;

		if (!bt_port_is_connected(bt_port_input_as_port_const(
			    bt_self_component_port_input_as_port_input(port))))
			continue;
		status = add_iterator(intake, port);
		if (status != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return (bt_component_class_sink_graph_is_configured_method_status)status;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* Takes and puts all messages of a batch, also behind a failure. */
static int take_batch(struct feed *feed, bt_message_array_const messages, uint64_t n)
{
	int code = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (code == 0)
			code = feed_message(feed, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return code;
}

/* Whether babeltrace2 2.0 says that all is well and has left an error behind: a packet is damaged,
 * and its next call, of any stream, would end the process. */
static bool has_failed(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_current_thread_move_error(error);
	return error != NULL;
}

bt_component_class_sink_consume_method_status intake_consume(struct intake *intake)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	uint64_t n;

	if (intake->current == intake->n_iterators)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	status = bt_message_iterator_next(intake->iterators[intake->current], &messages, &n);
	switch (status) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		if (has_failed())
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(intake->iterators[intake->current]);
		intake->current++;
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	default:
		APPEND_CAUSE(intake, "Cannot read on: port-index=%llu",
		             (unsigned long long)intake->current);
		return (bt_component_class_sink_consume_method_status)status;
	}
	if (take_batch(intake->feed, messages, n) < 0) {
		APPEND_CAUSE(intake, "Out of memory");
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	}
	return has_failed() ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR
	                    : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}
