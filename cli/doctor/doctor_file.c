/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace doctor FILE: what is in a program, a library or a firmware image. */
#include <inttypes.h>
#include <stddef.h>

#include <flextrace/wire.h>

#include "doctor.h"
#include "instrumentation.h"

static void print_markers(struct verdicts *verdicts, const char *path,
                          const struct instrumentation *found)
{
	const uint32_t head_bytes = FLEXTRACE_WIRE_RING_OFFSET;

	if (!found->wire_version)
		verdict_warn(verdicts,
		             "link marker.c of flextrace, and keep its section .flextrace.markers",
		             "%s: markers, of an unknown version", path);
	else if (found->wire_version != FLEXTRACE_WIRE_VERSION)
		verdict_fail(verdicts, "use flextrace of one version for the firmware and the host",
		             "%s: markers with areas of version %" PRIu32
		             ", this flextrace reads version %u",
		             path, found->wire_version, FLEXTRACE_WIRE_VERSION);
	else
		verdict_ok(verdicts,
		           "%s: markers with areas of version %" PRIu32 ", a counter of %" PRIu32
		           " bits and 2 slots for runs",
		           path, found->wire_version, found->counter_bits);
	if (found->area_bytes > head_bytes)
		verdict_ok(verdicts,
		           "%s: flextrace_area has room for %" PRIu64 " records of the ring", path,
		           (found->area_bytes - head_bytes) / 8);
	if (found->n_names)
		verdict_ok(verdicts, "%s: %" PRIu32 " names of markers", path, found->n_names);
	else
		verdict_warn(verdicts,
		             "keep the section .flextrace.names: no --strip-all on the file that "
		             "the host reads",
		             "%s: no names of markers, they will be numbers", path);
}

static void print_nothing(struct verdicts *verdicts, const char *path,
                          const struct instrumentation *found)
{
	if (found->is_of_this_machine)
		verdict_fail(verdicts,
		             "compile it with flextrace/flextrace.h and without "
		             "FLEXTRACE_DISABLE; if a shared library of it is instrumented, name "
		             "that",
		             "%s: not instrumented, or compiled out", path);
	else
		verdict_fail(verdicts,
		             "compile it with flextrace/marker.h and without FLEXTRACE_DISABLE, "
		             "and keep the sections .flextrace.*: no --strip-all",
		             "%s: no markers, or compiled out, or stripped of what tells of them",
		             path);
}

void doctor_file(struct verdicts *verdicts, const char *path)
{
	struct flextrace_error error = {0};
	struct instrumentation found;

	if (instrumentation_read(path, &found, &error) < 0) {
		verdict_fail(verdicts, NULL, "%s", error.message);
		return;
	}
	if (*found.program)
		verdict_ok(verdicts, "%s: instrumented, flextrace %s", path, found.program);
	if (*found.provider)
		verdict_ok(verdicts, "%s: LTTng provider, flextrace %s", path, found.provider);
	if (found.has_markers)
		print_markers(verdicts, path, &found);
	if (!*found.program && !*found.provider && !found.has_markers)
		print_nothing(verdicts, path, &found);
}
