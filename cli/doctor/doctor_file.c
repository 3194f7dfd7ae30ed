/* SPDX-License-Identifier: Apache-2.0 */
/* flextrace doctor FILE: what is in a program, a library or a firmware image. */
#include <inttypes.h>
#include <stddef.h>

#include <flextrace/wire.h>

#include "doctor.h"
#include "elf_facts.h"

static void tell_markers(struct findings *findings, const char *path, const struct elf_facts *facts)
{
	const uint32_t head_bytes = FLEXTRACE_WIRE_RING_OFFSET;

	if (!facts->wire_version)
		findings_tell(findings, VERDICT_WARN,
		              "link marker.c of flextrace, and keep its section .flextrace.markers",
		              "%s: markers, of an unknown version", path);
	else if (facts->wire_version != FLEXTRACE_WIRE_VERSION)
		findings_tell(findings, VERDICT_FAIL,
		              "use flextrace of one version for the firmware and the host",
		              "%s: markers with areas of version %" PRIu32
		              ", this flextrace reads version %u",
		              path, facts->wire_version, FLEXTRACE_WIRE_VERSION);
	else
		findings_tell(findings, VERDICT_OK, NULL,
		              "%s: markers with areas of version %" PRIu32 ", a counter of %" PRIu32
		              " bits and 2 slots for runs",
		              path, facts->wire_version, facts->counter_bits);
	if (facts->area_bytes > head_bytes)
		findings_tell(findings, VERDICT_OK, NULL,
		              "%s: flextrace_area has room for %" PRIu64 " records of the ring",
		              path, (facts->area_bytes - head_bytes) / 8);
	if (facts->n_names)
		findings_tell(findings, VERDICT_OK, NULL, "%s: %" PRIu32 " names of markers", path,
		              facts->n_names);
	else
		findings_tell(findings, VERDICT_WARN,
		              "keep the section .flextrace.names: no --strip-all on the file that "
		              "the host reads",
		              "%s: no names of markers, they will be numbers", path);
}

static void tell_nothing(struct findings *findings, const char *path, const struct elf_facts *facts)
{
	if (facts->is_of_this_machine)
		findings_tell(findings, VERDICT_FAIL,
		              "compile it with flextrace/flextrace.h and without "
		              "FLEXTRACE_DISABLE; if a shared library of it is instrumented, name "
		              "that",
		              "%s: not instrumented, or compiled out", path);
	else
		findings_tell(findings, VERDICT_FAIL,
		              "compile it with flextrace/marker.h and without FLEXTRACE_DISABLE, "
		              "and keep the sections .flextrace.*: no --strip-all",
		              "%s: no markers, or compiled out, or stripped of what tells of them",
		              path);
}

void doctor_file(struct findings *findings, const char *path)
{
	struct flextrace_error error = {0};
	struct elf_facts facts;

	if (elf_facts_read(path, &facts, &error) < 0) {
		findings_tell(findings, VERDICT_FAIL, NULL, "%s", error.message);
		return;
	}
	if (*facts.program)
		findings_tell(findings, VERDICT_OK, NULL, "%s: instrumented, flextrace %s", path,
		              facts.program);
	if (*facts.provider)
		findings_tell(findings, VERDICT_OK, NULL, "%s: LTTng provider, flextrace %s", path,
		              facts.provider);
	if (facts.has_markers)
		tell_markers(findings, path, &facts);
	if (!*facts.program && !*facts.provider && !facts.has_markers)
		tell_nothing(findings, path, &facts);
}
