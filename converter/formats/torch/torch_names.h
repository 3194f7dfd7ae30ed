/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_names.h: what the torch profiler's categories and names mean.
 */
#ifndef FLEXTRACE_IMPORT_TORCH_NAMES_H
#define FLEXTRACE_IMPORT_TORCH_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Where an event of a category belongs. */
enum torch_side {
	TORCH_UNKNOWN, /* a category that is not known, or none */
	TORCH_HOST,    /* a thread of the process */
	TORCH_DEVICE,  /* of a row of a device: a control block, or what is told about such */
	TORCH_NOTE,    /* about another row than the process': an interval, but no work */
	TORCH_WINDOW   /* what the profiler recorded */
};

struct torch_class {
	enum torch_side side;
	/* enum flextrace_device_kind of a device's, else enum flextrace_runtime_kind */
	uint8_t kind;
};

struct torch_class torch_class_of(const char *category, const char *name);

/* Whether a category is one of the profiler's, of today or of older versions. */
bool torch_knows_category(const char *category);

/* Whether a name is that of a step: ProfilerStep#N. */
bool torch_is_step(const char *name);

#endif
