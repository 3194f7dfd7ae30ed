/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.h: the ports of a sink component, drained into a feed.
 *
 * Shared by the plug-in's sink and by the sinks of `flextrace convert`. Any number of input ports:
 * a free one is added whenever one gets connected. Ports are drained one after the other, because
 * the records are put in order later anyway, and an upstream source only holds open what is being
 * drained.
 *
 * Functions append an error cause before they return anything that is an error.
 */
#ifndef FLEXTRACE_BT2_INTAKE_H
#define FLEXTRACE_BT2_INTAKE_H

#include "feed.h"

struct intake {
	bt_self_component_sink *component; /* weak */
	struct feed *feed;                 /* weak */
	bt_message_iterator **iterators;   /* owned references, NULL behind their end */
	uint64_t n_iterators, current;
	uint32_t n_ports;
};

/* Adds the first input port, `in0`. */
bt_component_class_initialize_method_status
intake_init(struct intake *intake, bt_self_component_sink *component, struct feed *feed);
void intake_release(struct intake *intake);

/* Methods of a component whose data begins with the intake. */

/* When a port was connected: adds the next one (`in1`, `in2`, ...). */
bt_component_class_port_connected_method_status intake_connected(bt_self_component_sink *self,
                                                                 bt_self_component_port_input *port,
                                                                 const bt_port_output *other);

/* When the graph is configured: creates the iterators of the connected ports. */
bt_component_class_sink_graph_is_configured_method_status
intake_configured(bt_self_component_sink *self);

/* Takes one batch of messages. END: all ports are drained. */
bt_component_class_sink_consume_method_status intake_consume(struct intake *intake);

#endif
