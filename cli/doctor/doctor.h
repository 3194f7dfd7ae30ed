/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h: the parts of `flextrace doctor`, and what it finds, a line for each. */
#ifndef FLEXTRACE_DOCTOR_H
#define FLEXTRACE_DOCTOR_H

#include <sys/types.h>

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

struct findings { /* zeroed: none */
	int n_warnings, n_failures;
};

/* Prints and counts a finding; the text in `mend` says what to do, NULL = nothing. */
void findings_tell(struct findings *findings, enum verdict verdict, const char *mend,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Looks into a program, a library or a firmware image. */
void doctor_file(struct findings *findings, const char *path);

/* Looks at a running process and at what the session daemon knows of it. */
void doctor_process(struct findings *findings, pid_t pid);

#endif
