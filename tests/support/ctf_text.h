/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_text.h: the lines of text_source.h as a trace in CTF, for tests that start from files.
 *
 * `lost` ends a packet and steps LTTng's counters before the next one, so events of its stream must
 * stand behind it, and before it, unless the stream is to begin with a later packet. Malformed
 * events are those whose values no converter takes; there is no way to leave a member out.
 */
#ifndef FLEXTRACE_TESTS_CTF_TEXT_H
#define FLEXTRACE_TESTS_CTF_TEXT_H

#include "ctf_writer.h"

/* Writes the trace into options->dir. */
int ctf_text_write(const struct ctf_writer_options *options, const char *text,
                   struct flextrace_error *error);

#endif
