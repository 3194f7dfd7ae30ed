/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h: the parts of `flextrace doctor`. */
#ifndef FLEXTRACE_DOCTOR_H
#define FLEXTRACE_DOCTOR_H

#include <sys/types.h>

#include "report/findings.h"

/* Looks into a program, a library or a firmware image. */
void doctor_file(struct findings *findings, const char *path);

/* Looks at a running process and at what the session daemon knows of it. */
void doctor_process(struct findings *findings, pid_t pid);

#endif
