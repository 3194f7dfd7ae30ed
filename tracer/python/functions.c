/* SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"

#define LEAST_SLOTS 1024

PyObject *functions_describe;

/* By address of the code object; their number is a power of 2, and half of them are empty. */
static struct function **slots;
static size_t n_slots, n_functions;

static struct function **find(struct function **in, size_t n, const PyObject *code)
{
	size_t i = (size_t)(((uintptr_t)code >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (in[i & (n - 1)] && in[i & (n - 1)]->code != code)
		i++;
	return &in[i & (n - 1)];
}

static int make_room(void)
{
	size_t n = n_slots ? 2 * n_slots : LEAST_SLOTS;
	struct function **larger;

	if (2 * n_functions < n_slots)
		return 1;
	larger = calloc(n, sizeof(struct function *));
	if (!larger)
		return 0;
	for (size_t i = 0; i < n_slots; i++)
		if (slots[i])
			*find(larger, n, slots[i]->code) = slots[i];
	free(slots);
	slots = larger;
	n_slots = n;
	return 1;
}

/* Tells what a function is, once or again. */
EXPORT(void, add,
       (PyObject * code, const char *name, const char *file, uint32_t line, int is_chosen,
        int has_lines))
{
	struct function **slot = make_room() ? find(slots, n_slots, code) : NULL;
	struct function *function;

	if (slot && !*slot) {
		*slot = calloc(1, sizeof(struct function));
		n_functions += *slot != NULL;
		if (*slot)
			Py_IncRef(code);
	}
	function = slot ? *slot : NULL;
	if (!function)
		return;
	free(function->name);
	free(function->file);
	*function = (struct function){code, strdup(name), strdup(file), line, is_chosen, has_lines};
}

struct function *functions_of_frame(PyFrameObject *frame)
{
	PyObject *code = PyFrame_GetCode(frame);
	struct function *function = n_slots ? *find(slots, n_slots, code) : NULL;

	if (!function) {
		/* Other threads may run meanwhile, and add theirs. */
		Py_DecRef(
			PyObject_CallFunctionObjArgs(functions_describe, frame, (PyObject *)NULL));
		function = n_slots ? *find(slots, n_slots, code) : NULL;
	}
	Py_DecRef(code);
	return function;
}
