/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpose.h: how a function stands before one of MPI.
 *
 *	INTERPOSE(Send, (parameters)) { ... REAL(Send)(arguments) ... }
 *
 * Functions of one form are made by one macro. Its `parameters` and `arguments` stand in brackets;
 * it uses the parameters by the names that all functions of the form give them.
 */
#ifndef FLEXTRACE_MPI_INTERPOSE_H
#define FLEXTRACE_MPI_INTERPOSE_H

#include "real.h"

/* The functions that Fortran calls often call PMPI_Send and not MPI_Send: ours has both names. What
 * it calls itself is that of the library of MPI. */
#define INTERPOSE(name, parameters)                                                     \
	extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name))); \
	int MPI_##name parameters

#define UNPACK(...) __VA_ARGS__ /* a list out of its brackets, to add to it */

/* A call of which nothing but its time is of interest; `drop_if`: and that not. */
#define INTERPOSE_SCOPE(name, drop_if, parameters, arguments) \
	INTERPOSE(name, parameters)                           \
	{                                                     \
		struct call call;                             \
		int code;                                     \
                                                              \
		call_begin(&call, "MPI_" #name);              \
		code = REAL(name) arguments;                  \
		if (drop_if)                                  \
			call_drop_scope(&call);               \
		call_end(&call);                              \
		return code;                                  \
	}

#endif
