/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion.h: conversion_options -> pipeline: what the command and the plug-in do alike around
 * reading.
 *
 * Call conversion_check() before reading, so that a mistyped format or a directory that cannot be
 * written costs no hour, and conversion_run() when all is read. Neither writes anything before all
 * input was read.
 */
#ifndef FLEXTRACE_CONVERSION_H
#define FLEXTRACE_CONVERSION_H

#include "model/ledger/ledger.h"
#include "model/streams.h"
#include "options.h"
#include "pipeline_result.h"

/* Checks what can be known before reading, and prepares memory for it. FLEXTRACE_E_USAGE: no output
 * directory, unknown format; FLEXTRACE_E_OUTPUT: the directory, or a temporary file, cannot be
 * written; FLEXTRACE_E_INPUT: a firmware image cannot be read. */
int conversion_check(const struct conversion_options *options, struct flextrace_error *error);

/* Runs the pipeline. run.json names the traces by host and uuid, not by path, so that it does not
 * tell who read them. Consumes the tables of `set`; adds to `ledger`. */
int conversion_run(const struct conversion_options *options, struct stream_set *set,
                   struct string_pool *strings, struct ledger *ledger,
                   struct pipeline_result *ret_result, struct flextrace_error *error);

#endif
