/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h: the parts of `flextrace doctor`, and what it finds, a line for each. */
#ifndef FLEXTRACE_DOCTOR_H
#define FLEXTRACE_DOCTOR_H

#include <sys/types.h>

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

struct verdicts { /* zeroed: none */
	int n_warnings, n_failures;
};

/* Prints and counts a finding; the text in `mend` says what to do, NULL = nothing. */
void verdict_print(struct verdicts *verdicts, enum verdict verdict, const char *mend,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

#define verdict_ok(verdicts, ...)         verdict_print(verdicts, VERDICT_OK, NULL, __VA_ARGS__)
#define verdict_warn(verdicts, mend, ...) verdict_print(verdicts, VERDICT_WARN, mend, __VA_ARGS__)
#define verdict_fail(verdicts, mend, ...) verdict_print(verdicts, VERDICT_FAIL, mend, __VA_ARGS__)

/* Looks into a program, a library or a firmware image. */
void doctor_file(struct verdicts *verdicts, const char *path);

/* Looks at a running process and at what the session daemon knows of it. */
void doctor_process(struct verdicts *verdicts, pid_t pid);

#endif
