/* SPDX-License-Identifier: Apache-2.0 */
#include "real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef OPEN_MPI
static const char *const names[] = {"libmpi.so.40", "libmpi.so"};
#define IS_OPEN_MPI true
#else
/* libmpi.so.12: what else has MPICH's binary interface */
#define IS_OPEN_MPI false
static const char *const names[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so"};
#endif

/* Functions are looked for behind this library, which has their names as well, then both in an MPI
 * that somebody loaded for himself (Python does). */
void *real_find(const char *name)
{
	void *symbol = dlsym(strncmp(name, "PMPI_", 5) == 0 ? RTLD_NEXT : RTLD_DEFAULT, name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !symbol; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			symbol = dlsym(library, name);
	}
	return symbol;
}

bool real_is_ours(void)
{
	return IS_OPEN_MPI == (real_find("ompi_mpi_comm_world") != NULL);
}
