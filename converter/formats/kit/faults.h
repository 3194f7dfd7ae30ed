/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h: what was wrong with the events of a file: how many, and where and why the first.
 */
#ifndef FLEXTRACE_IMPORT_FAULTS_H
#define FLEXTRACE_IMPORT_FAULTS_H

#include "formats/import.h"
#include "formats/chrome-json/trace_events.h"

struct faults {
	uint64_t n, first_bytes;
	const char *first; /* static */
};

void faults_note(struct faults *faults, const char *fault, uint64_t offset_bytes);

/* Adds what the reader of the text found; returns how many that were. */
uint64_t faults_note_damage(struct faults *faults, const struct trace_damage *damage);

/* Tells them in one warning, if there are any. */
void faults_warn(const struct faults *faults, const struct import_options *options,
                 const char *path);

#endif
