/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h: what `flextrace doctor` finds, a line for each. */
#ifndef FLEXTRACE_FINDINGS_H
#define FLEXTRACE_FINDINGS_H

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

struct findings { /* zeroed: none */
	int n_warnings, n_failures;
};

/* Prints and counts a finding; the text in `mend` says what to do, NULL = nothing. */
void findings_tell(struct findings *findings, enum verdict verdict, const char *mend,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
