/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h: what the hook knows of each function that it meets, found by its code object, of
 * which it holds a reference: no other one gets the address. Nothing is ever freed.
 */
#ifndef FLEXTRACE_PYTHON_FUNCTIONS_H
#define FLEXTRACE_PYTHON_FUNCTIONS_H

#include <stdint.h>

#include "cpython.h"

struct function {
	PyObject *code; /* owned reference */
	char *name;     /* owned, both */
	char *file;
	uint32_t line;
	int is_chosen; /* its calls are recorded */
	int has_lines; /* and its lines */
};

/* What is asked of functions that were not met before: it is called with the frame of one, and
 * calls flextrace_python_add(). Weak. */
extern PyObject *functions_describe;

/* The function of a frame; NULL: an exception was raised, or there is no memory. */
struct function *functions_of_frame(PyFrameObject *frame);

#endif
