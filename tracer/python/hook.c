/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.c: records the calls of Python functions, and their lines, by the hooks that the interpreter
 * has for profilers and debuggers.
 *
 * Generators and coroutines: each time that one goes on is an interval, as profilers count it, so
 * that intervals nest. Stacks that something else switches (greenlets) are found by their frames.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "records.h"

#define NAME_BYTES 1024

/* A call that has not returned. */
struct call {
	const PyFrameObject *frame; /* weak, only compared; of a function in C: of its caller */
	struct function *function;  /* NULL: a function in C */
	uint64_t begin_ns;          /* 0: it was not to be recorded then */
	uint64_t line_ns;           /* of the line that runs; 0 = none */
	uint32_t line;
};

static __thread struct {
	struct call *calls;
	uint32_t n, capacity;
} own;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int with_c_functions, by_line;

/* -- calls of this thread -- */

static void make_key(void)
{
	pthread_key_create(&key, free);
}

static uint64_t now_ns(void)
{
	return RECORDS_ON(scope) ? flextrace_now_ns() : 0;
}

static void open_call(const PyFrameObject *frame, struct function *function)
{
	if (own.n == own.capacity) {
		uint32_t capacity = own.capacity ? 2 * own.capacity : 256;
		struct call *calls = realloc(own.calls, capacity * sizeof(*calls));

		if (!calls)
			return;
		own.calls = calls;
		own.capacity = capacity;
		pthread_once(&once, make_key);
		pthread_setspecific(key, calls);
	}
	own.calls[own.n++] = (struct call){frame, function, now_ns(), 0, 0};
}

/* Most often the last one. A frame's address is used again: its function has to be the same. */
static struct call *find_call(const PyFrameObject *frame, const struct function *function)
{
	uint32_t i = own.n;

	while (i > 0 && (own.calls[i - 1].frame != frame || own.calls[i - 1].function != function))
		i--;
	return i ? &own.calls[i - 1] : NULL;
}

static void remove_call(struct call *call)
{
	const struct call *end = own.calls + own.n--;

	memmove(call, call + 1, (size_t)(end - (call + 1)) * sizeof(*call));
}

static void record_line(struct call *call)
{
	const struct function *function = call->function;
	char name[NAME_BYTES];

	if (!call->line_ns)
		return;
	snprintf(name, sizeof(name), "%s:%u", function->name, call->line);
	flextrace_python_scope(call->line_ns, name, function->file, call->line, NULL);
	call->line_ns = 0;
}

static void record_call(struct call *call)
{
	const struct function *function = call->function;

	record_line(call);
	if (call->begin_ns)
		flextrace_python_scope(call->begin_ns, function->name, function->file,
		                       function->line, NULL);
}

/* -- functions in C: those that a chosen function calls -- */

/* Puts a text attribute behind `name`, which has room for NAME_BYTES. */
static void append_text(char *name, PyObject *object, const char *attribute)
{
	PyObject *text = PyObject_GetAttrString(object, attribute);
	bool has_text = text && text != &_Py_NoneStruct;
	const char *found = has_text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	size_t n = strlen(name);

	if (found)
		snprintf(name + n, NAME_BYTES - n, "%s%s", n ? "." : "", found);
	else if (!text || has_text)
		PyErr_Clear();
	Py_DecRef(text);
}

static void leave_c(const PyFrameObject *frame, PyObject *callable)
{
	struct call *call = find_call(frame, NULL);
	char name[NAME_BYTES] = "";

	if (!call)
		return;
	if (call->begin_ns) {
		append_text(name, callable, "__module__");
		append_text(name, callable, "__qualname__");
		flextrace_python_scope(call->begin_ns, name, "", 0, NULL);
	}
	remove_call(call);
}

/* -- the hooks -- */

static void on_line(const PyFrameObject *frame, const struct function *function)
{
	struct call *call = function->has_lines ? find_call(frame, function) : NULL;

	if (!call)
		return;
	record_line(call);
	call->line = (uint32_t)PyFrame_GetLineNumber((PyFrameObject *)frame);
	call->line_ns = now_ns();
}

static void leave(const PyFrameObject *frame, const struct function *function)
{
	struct call *call = find_call(frame, function);

	if (!call)
		return;
	record_call(call);
	remove_call(call);
}

/* What can be known without a look at the frame: while nobody records, nothing else is done. */
static bool is_of_use(int event)
{
	if (event > PyTrace_RETURN && !with_c_functions)
		return false;
	if (event == PyTrace_CALL || event == PyTrace_C_CALL)
		return by_line || RECORDS_ON(scope);
	return own.n > 0;
}

static int on_event(PyObject *self, PyFrameObject *frame, int event, PyObject *arg)
{
	struct function *function;

	(void)self;
	if (!is_of_use(event))
		return 0;
	function = functions_of_frame(frame);
	if (!function)
		return PyErr_Occurred() ? -1 : 0;
	if (!function->is_chosen)
		return 0;
	if (event == PyTrace_CALL)
		open_call(frame, function);
	else if (event == PyTrace_RETURN)
		leave(frame, function);
	else if (event == PyTrace_LINE)
		on_line(frame, function);
	else if (event == PyTrace_C_CALL)
		open_call(frame, NULL);
	else if (event == PyTrace_C_RETURN || event == PyTrace_C_EXCEPTION)
		leave_c(frame, arg);
	return 0;
}

/* 1 if the interpreter has what the hook needs. */
EXPORT(int, has_hook, (void))
{
	return cpython_is_there();
}

/* Before the first hook; see functions_describe. With functions in C, or with lines. */
EXPORT(void, choose, (PyObject * describe, int with_c, int lines))
{
	Py_IncRef(describe);
	functions_describe = describe;
	with_c_functions = with_c;
	by_line = lines;
}

/* Another frame may have got its address. */
static int is_of(const struct call *call, PyFrameObject *frame)
{
	PyObject *code;

	if (call->frame != frame || !call->function)
		return call->frame == frame;
	code = PyFrame_GetCode(frame);
	Py_DecRef(code);
	return code == call->function->code;
}

/* Whether a call is the one of frame `top`, or of one that has called it. */
static int is_open(const struct call *call, PyFrameObject *top)
{
	int is_found = is_of(call, top);
	PyFrameObject *back = is_found ? NULL : PyFrame_GetBack(top);

	while (back && !is_found) {
		PyFrameObject *next = PyFrame_GetBack(back);

		is_found = is_of(call, back);
		Py_DecRef((PyObject *)back);
		back = next;
	}
	Py_DecRef((PyObject *)back);
	return is_found;
}

/*
 * Hooks the calling thread, which is in `frame`. `resume` is what sys.getprofile() or
 * sys.gettrace() then shows: a function that hooks the thread that calls it. So who sets back what
 * was set gets the hook back, and the calls whose frames did not end meanwhile.
 */
EXPORT(void, hook, (PyObject * resume, PyObject *frame))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < own.n; i++)
		if (is_open(&own.calls[i], (PyFrameObject *)frame))
			own.calls[n++] = own.calls[i];
	own.n = n;
	if (by_line)
		PyEval_SetTrace(on_event, resume);
	else
		PyEval_SetProfile(on_event, resume);
}

/* The call of a frame that had begun when its thread was hooked. */
EXPORT(void, call, (PyObject * frame))
{
	on_event(NULL, (PyFrameObject *)frame, PyTrace_CALL, NULL);
}

/* Takes the hook off; calls that are open are recorded as if they ended now. */
EXPORT(void, unhook, (void))
{
	if (by_line)
		PyEval_SetTrace(NULL, NULL);
	else
		PyEval_SetProfile(NULL, NULL);
	for (; own.n > 0; own.n--)
		if (own.calls[own.n - 1].function)
			record_call(&own.calls[own.n - 1]);
}
