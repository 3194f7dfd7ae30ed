/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text/ascii.h"

int import_lose(struct import *import, enum loss_cause cause, uint64_t n)
{
	return ledger_lose(&import->ledger, cause, &LOSS_NOWHERE, n, INT64_MIN);
}

void import_note_fault(struct import *import, const char *fault, uint64_t place)
{
	struct faults *faults = &import->faults;

	if (faults->n++ && faults->first_place <= place)
		return;
	faults->first = fault;
	faults->first_place = place;
}

int import_reject(struct import *import, enum loss_cause cause, const char *fault, uint64_t place)
{
	import_note_fault(import, fault, place);
	return import_lose(import, cause, 1);
}

void import_warn(const struct import *import, const char *format, ...)
{
	char text[1024];
	va_list values;

	if (!import->options->warn)
		return;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	import->options->warn(import->options->context, text);
}

void import_warn_of_faults(struct import *import, const char *path, const char *what,
                           const char *unit)
{
	const struct faults *faults = &import->faults;

	if (faults->n)
		import_warn(import,
		            "%s were rejected: file=%s, %c%s=%" PRIu64 ", first at %s %" PRIu64
		            ": %s",
		            what, path, ascii_lower(*what), what + 1, faults->n, unit,
		            faults->first_place, faults->first);
	import->faults = (struct faults){0};
}

int import_cut(struct import *import, const char *path)
{
	import_warn(import, "The file stops in the middle: file=%s", path);
	return import_lose(import, LOSS_TRUNCATED_STREAM, 1);
}

int import_end_events(struct import *import, const char *path, const struct faults *left_out,
                      bool is_cut)
{
	if (left_out->n) {
		import_note_fault(import, left_out->first, left_out->first_place);
		import->faults.n += left_out->n - 1;
	}
	FLEXTRACE_TRY(import_lose(import, LOSS_MALFORMED, left_out->n));
	import_warn_of_faults(import, path, "Events", "byte");
	return is_cut ? import_cut(import, path) : FLEXTRACE_OK;
}
