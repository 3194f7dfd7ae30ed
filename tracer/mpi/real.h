/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h: MPI itself, which this library is not linked with: it is loaded into programs that have
 * none, and into some that load MPI later.
 */
#ifndef FLEXTRACE_MPI_REAL_H
#define FLEXTRACE_MPI_REAL_H

#include <mpi.h>
#include <stdbool.h>

/* Where a symbol of MPI is, or NULL. */
void *real_find(const char *name);

static inline void *real_get(void **found, const char *name)
{
	void *symbol = __atomic_load_n(found, __ATOMIC_RELAXED);

	if (!symbol) {
		symbol = real_find(name);
		__atomic_store_n(found, symbol, __ATOMIC_RELAXED);
	}
	return symbol;
}

/* The function of MPI that MPI_<name> stands before. Any thread. */
#define REAL(name)                                                         \
	__extension__({                                                    \
		static void *real_found;                                   \
		union {                                                    \
			void *symbol;                                      \
			__typeof__(&PMPI_##name) function;                 \
		} real_##name;                                             \
		real_##name.symbol = real_get(&real_found, "PMPI_" #name); \
		real_##name.function;                                      \
	})

/* Open MPI's handles are addresses of variables, which are looked for as well. */
#ifdef OPEN_MPI
struct real_handles {
	void *comm_world, *comm_self, *comm_null, *request_null;
	void *message_null, *message_no_proc, *byte;
};
extern struct real_handles real_handles;
#undef MPI_COMM_WORLD
#undef MPI_COMM_SELF
#undef MPI_COMM_NULL
#undef MPI_REQUEST_NULL
#undef MPI_MESSAGE_NULL
#undef MPI_MESSAGE_NO_PROC
#undef MPI_BYTE
#define MPI_COMM_WORLD      ((MPI_Comm)real_handles.comm_world)
#define MPI_COMM_SELF       ((MPI_Comm)real_handles.comm_self)
#define MPI_COMM_NULL       ((MPI_Comm)real_handles.comm_null)
#define MPI_REQUEST_NULL    ((MPI_Request)real_handles.request_null)
#define MPI_MESSAGE_NULL    ((MPI_Message)real_handles.message_null)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)real_handles.message_no_proc)
#define MPI_BYTE            ((MPI_Datatype)real_handles.byte)
#endif

/* Finds what MPI_Init() brought; false: it is not the MPI that this library was built for. */
bool real_begin(void);

#endif
