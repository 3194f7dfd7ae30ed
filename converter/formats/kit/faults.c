/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <inttypes.h>
#include <stdio.h>

void faults_note(struct faults *faults, const char *fault, uint64_t offset_bytes)
{
	if (faults->n++ && faults->first_bytes <= offset_bytes)
		return;
	faults->first = fault;
	faults->first_bytes = offset_bytes;
}

uint64_t faults_note_damage(struct faults *faults, const struct trace_damage *damage)
{
	uint64_t n = damage->n_events + damage->n_members;

	if (n) {
		faults_note(faults, damage->first_cause, damage->first_bytes);
		faults->n += n - 1;
	}
	return n;
}

void faults_warn(const struct faults *faults, const struct import_options *options,
                 const char *path)
{
	char text[1024];

	if (!faults->n || !options->warn)
		return;
	snprintf(text, sizeof(text),
	         "Events were rejected: file=%s, events=%" PRIu64 ", first at byte %" PRIu64 ": %s",
	         path, faults->n, faults->first_bytes, faults->first);
	options->warn(options->context, text);
}
