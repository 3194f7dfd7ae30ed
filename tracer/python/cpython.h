/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpython.h: what the hook calls of the interpreter that loads it, declared here so that no Python
 * is needed to compile it. It is CPython's stable ABI, or public and the same from 3.9 on. Weak: an
 * interpreter that lacks some of it leaves it NULL.
 */
#ifndef FLEXTRACE_PYTHON_CPYTHON_H
#define FLEXTRACE_PYTHON_CPYTHON_H

#include <stddef.h>

typedef struct cpython_object PyObject;
typedef struct cpython_frame PyFrameObject;

/* What a hook is called for. `arg` of C_*: the function in C. -1: an exception was raised. */
enum cpython_event {
	PyTrace_CALL = 0,
	PyTrace_LINE = 2,
	PyTrace_RETURN = 3, /* also where an exception leaves the frame */
	PyTrace_C_CALL = 4,
	PyTrace_C_EXCEPTION = 5,
	PyTrace_C_RETURN = 6
};
typedef int (*Py_tracefunc)(PyObject *self, PyFrameObject *frame, int event, PyObject *arg);

/* X(type, name, parameters); an object that one returns is a new reference, or NULL. */
#define CPYTHON_FUNCTIONS(X)                                                     \
	X(void, PyEval_SetProfile, (Py_tracefunc hook, PyObject * self))         \
	X(void, PyEval_SetTrace, (Py_tracefunc hook, PyObject * self))           \
	X(PyObject *, PyFrame_GetCode, (PyFrameObject * frame))                  \
	X(PyFrameObject *, PyFrame_GetBack, (PyFrameObject * frame))             \
	X(int, PyFrame_GetLineNumber, (PyFrameObject * frame))                   \
	X(PyObject *, PyObject_GetAttrString, (PyObject * object, const char *)) \
	X(PyObject *, PyObject_CallFunctionObjArgs, (PyObject * callable, ...))  \
	X(const char *, PyUnicode_AsUTF8AndSize, (PyObject * text, ptrdiff_t *)) \
	X(PyObject *, PyErr_Occurred, (void)) /* borrowed */                     \
	X(void, PyErr_Clear, (void))                                             \
	X(void, Py_IncRef, (PyObject * object))                                  \
	X(void, Py_DecRef, (PyObject * object))

#define CPYTHON_DECLARE(type, name, parameters) type name parameters __attribute__((weak));
CPYTHON_FUNCTIONS(CPYTHON_DECLARE)
#undef CPYTHON_DECLARE
extern PyObject _Py_NoneStruct __attribute__((weak)); /* None */

static inline int cpython_is_there(void)
{
#define CPYTHON_HAS(type, name, parameters) name &&
	return CPYTHON_FUNCTIONS(CPYTHON_HAS) 1;
#undef CPYTHON_HAS
}

#endif
