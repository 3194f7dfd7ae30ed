/* SPDX-License-Identifier: Apache-2.0 */
#include "real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#ifdef OPEN_MPI
static const char *const names[] = {"libmpi.so.40", "libmpi.so"};
struct real_handles real_handles;
#else
/* libmpi.so.12: what else has MPICH's binary interface */
static const char *const names[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so"};
#endif

/* Looks behind this library, then in an MPI that somebody loaded for himself (Python does). */
void *real_find(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !symbol; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			symbol = dlsym(library, name);
	}
	return symbol;
}

#ifdef OPEN_MPI
/* A program may have a copy of such a variable of its own, which all of it uses. */
static void *find_handle(const char *name)
{
	void *handle = dlsym(RTLD_DEFAULT, name);

	return handle ? handle : real_find(name);
}

bool real_begin(void)
{
	real_handles.comm_world = find_handle("ompi_mpi_comm_world");
	real_handles.comm_self = find_handle("ompi_mpi_comm_self");
	real_handles.comm_null = find_handle("ompi_mpi_comm_null");
	real_handles.request_null = find_handle("ompi_request_null");
	real_handles.message_null = find_handle("ompi_message_null");
	real_handles.message_no_proc = find_handle("ompi_message_no_proc");
	real_handles.byte = find_handle("ompi_mpi_byte");
	return real_handles.comm_world && real_handles.comm_self && real_handles.comm_null &&
	       real_handles.request_null && real_handles.message_null &&
	       real_handles.message_no_proc && real_handles.byte;
}
#else
bool real_begin(void)
{
	return !real_find("ompi_mpi_comm_world");
}
#endif
