/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.h: the sentence: decoded streams in, files out, the stages in the order data meets them.
 */
#ifndef FLEXTRACE_PIPELINE_H
#define FLEXTRACE_PIPELINE_H

#include "engine/align/align.h"
#include "engine/calibrate/calibrate.h"
#include "derivations.h"
#include "pipeline_result.h"
#include "output/emit.h"
#include "model/emitted/emitted.h"
#include "base/error.h"
#include "model/streams.h"
#include "model/ledger/ledger.h"
#include "select/select.h"
#include "base/text/strings.h"

/* One conversion's options: the same names on the command line and as sink parameters. */
struct pipeline_options {
	struct emit_options emit;
	struct calibrate_options calibrate;
	struct align_options align;
	struct findings_options findings;
	struct select_options select;
	struct plain_options plain;            /* texts weak */
	const struct derivations *derivations; /* weak; NULL = all */
	double core_hz; /* compute clock of all devices; 0 = as the trace tells */
	void (*warn)(void *context,
	             const char *text); /* of what should be told now; NULL: nobody */
};

/* Converts. Consumes the streams' tables; `ledger` holds what the readers counted and gets the
 * rest. FLEXTRACE_E_INPUT: there is no flextrace record at all (the message says how to get some),
 * or a firmware image cannot be read; nothing is written then. FLEXTRACE_E_SYSTEM: the books do
 * not close, which is a mistake of ours. `ret_result` is filled in any case. */
int pipeline_run(struct stream_set *set, struct string_pool *strings, struct ledger *ledger,
                 const struct pipeline_options *options, struct pipeline_result *ret_result,
                 struct flextrace_error *error);

#endif
