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

/* Open MPI's handles are addresses of variables, which are looked for as well. A program may have a
 * copy of such a variable of its own, which all of it uses. */
#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, name)           \
	__extension__({                              \
		static void *real_found;             \
		(type) real_get(&real_found, #name); \
	})
#endif

/* Whether MPI_Init() brought the MPI that this library was built for. */
bool real_is_ours(void);

#endif
