/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpose.h: how a function stands before one of MPI.
 *
 *	CALL(Send, (parameters), (arguments), begin, end)
 *
 * Functions of one form (those that send, ...) are made by one macro, which uses the parameters by
 * the names that all functions of the form give them. Lists stand in brackets.
 */
#ifndef FLEXTRACE_MPI_INTERPOSE_H
#define FLEXTRACE_MPI_INTERPOSE_H

#include "requests.h"

/* The functions that Fortran calls often call PMPI_Send and not MPI_Send: ours has both names. What
 * it calls itself is that of the library of MPI. */
#define INTERPOSE(name, parameters)                                                     \
	extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name))); \
	int MPI_##name parameters

#define UNPACK(...) __VA_ARGS__ /* a list out of its brackets, to add to it */

/*
 * A whole function: `begin` is done before the call of MPI, `end` behind it. Both see `call` and
 * the parameters, and `end` the `code` that MPI returned. What they call does nothing for a call
 * that is not to be recorded.
 */
#define CALL(name, parameters, arguments, begin, end) \
	INTERPOSE(name, parameters)                   \
	{                                             \
		struct call call;                     \
		int code;                             \
                                                      \
		call_begin(&call, "MPI_" #name);      \
		begin;                                \
		call_unlock(&call);                   \
		code = REAL(name) arguments;          \
		call_lock(&call);                     \
		end;                                  \
		call_end(&call);                      \
		return code;                          \
	}

#endif
