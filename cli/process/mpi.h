/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.h: which of our libraries records the calls of MPI of a command.
 */
#ifndef FLEXTRACE_CLI_MPI_H
#define FLEXTRACE_CLI_MPI_H

#include <limits.h>

#include "base/error.h"

#define MPI_AUTO "auto"

/*
 * Finds the library for an MPI: "openmpi", "mpich", or, for MPI_AUTO, that which the first program
 * of the command needs that needs one, else that of the launcher. FLEXTRACE_E_USAGE: nobody can
 * tell which it is, or there is no library for it beside this command.
 */
int mpi_find_library(const char *wanted, char *const argv[], char ret_path[PATH_MAX],
                     struct flextrace_error *error);

/* Has programs that are started load it, before what they load already. */
void mpi_preload(const char *library);

#endif
