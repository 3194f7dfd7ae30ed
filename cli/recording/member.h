/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h: several `flextrace record` of one job share one recording: the first makes it, the
 * others join, the last ends it.
 *
 * Members meet at the state file in the output directory. Three locks on it, held by the kernel so
 * that a member that dies leaves none behind: byte 0 is held for writing while a member joins or
 * leaves, byte 1 for reading as long as it is a member, byte 2 for writing by the one that leads.
 * Whoever can get byte 1 for writing is the last. A `record` without a job is a member alone, so
 * that `flextrace stop` sees that somebody ends the recording.
 *
 * A job that died whole leaves its state file, and perhaps its session. Whoever comes next joins
 * if it is of the same job and the session still records; else it ends what is left: the session,
 * the daemon, a trace without records.
 */
#ifndef FLEXTRACE_MEMBER_H
#define FLEXTRACE_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "process/launcher.h"
#include "recording.h"

struct member {
	int fd;              /* owned: the state file with the locks; -1 = they cannot be had */
	uint32_t n_expected; /* members that will come, 0 = unknown */
	int end_fd;          /* owned: while the last one ends it; -1 = none */
};

/* What a member asks for; all weak. */
struct member_request {
	const char *dir;
	const char *job;     /* as launcher_detect() names it */
	const char *session; /* name of the session if this member makes it */
	const struct recording_options *options;
	uint32_t n_expected; /* members that will come, 0 = unknown */
};

/*
 * Joins the recording in `request->dir`, or makes it as recording_begin() does. Returns 1 if it
 * made it, 0 if it joined; the caller ends its membership with member_leave(). FLEXTRACE_E_OUTPUT
 * where somebody else records, or where what a dead job left is worth keeping.
 */
int member_join(struct member *ret_member, const struct member_request *request,
                struct recording *ret_recording, struct flextrace_error *error);

/* Makes the caller the only member of the recording that it saved. */
void member_be_alone(struct member *ret_member, const struct recording *recording);

/* Ends the session of a recording whose recorder died, unless other members live: then false. Of a
 * job it waits a while for members that have not come yet. */
bool member_end_dead(struct recording *recording, uint32_t n_expected);

/* True if the recording has members that live. */
bool member_lives(const struct recording *recording);

/* Claims a recording that nobody records any more, to end it; `ret_fd` is closed by the caller when
 * it has. False: somebody else ends it, or has. */
bool member_claim(const struct recording *recording, int *ret_fd);

/* True for one of the members: the first that asked, after its end another one. */
bool member_leads(const struct member *member);

/*
 * Leaves. Returns 1 for the last member, which then owns the recording and ends it, else 0.
 * Where more members are expected that have not joined yet, the last one waits a moment for
 * them: they start within seconds.
 */
int member_leave(struct member *member, const struct recording *recording);

/* The last member has ended the recording. */
void member_has_ended(struct member *member);

#endif
