/* SPDX-License-Identifier: Apache-2.0 */
/* firmware.h: what the firmware of the example and its host share: where the marker area is. */
#ifndef EXAMPLE_FIRMWARE_H
#define EXAMPLE_FIRMWARE_H

#include "device.h"

#define FIRMWARE_CAPACITY 1024 /* records in the ring */

extern struct flextrace_wire_area *const firmware_area;
extern const struct device_program firmware_program;

#endif
