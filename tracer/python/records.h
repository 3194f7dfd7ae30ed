/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h: the library's side of the Python package: functions that it calls by ctypes, with the
 * interpreter's lock held. Texts are UTF-8 and weak.
 */
#ifndef FLEXTRACE_PYTHON_RECORDS_H
#define FLEXTRACE_PYTHON_RECORDS_H

#include <flextrace/flextrace.h>

/* Declares and begins a function that the package calls. */
#define EXPORT(type, name, parameters)                                                  \
	__attribute__((visibility("default"))) type flextrace_python_##name parameters; \
	type flextrace_python_##name parameters

/* 1 after flextrace_python_record(0): nothing of the package is recorded. */
extern int records_are_stopped;

#define RECORDS_ON(event) (!records_are_stopped && FLEXTRACE_ENABLED(event))

/* Records an interval that began at `begin_ns` and ends now; `args` NULL = none. */
void flextrace_python_scope(uint64_t begin_ns, const char *name, const char *file, uint32_t line,
                            const char *args);

#endif
