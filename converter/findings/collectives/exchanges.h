/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchanges.h: all that ranks exchanged, and how much of it was hidden behind computation.
 *
 * Those are the parts of collectives, and device work that is communication but of no group
 * (work.h): copies between devices, and kernels that only their names tell. What computation of
 * the same device covers of one is hidden, whatever program and queue it is of; of one that a
 * program recorded, that of all devices of its process. It is a union: never longer than the
 * exchange.
 */
#ifndef FLEXTRACE_EXCHANGES_H
#define FLEXTRACE_EXCHANGES_H

#include "collectives.h"

struct exchange {
	int64_t start_time_ns, end_time_ns;
	uint64_t bytes, hidden_ns;
	uint64_t wait_ns;          /* UINT64_MAX: not known */
	double alg_gbps, bus_gbps; /* NAN: not known; of its own time */
	uint32_t op; /* string of collectives.names: collective_part_op(), or of device work */
	uint32_t process, device; /* indexes; device: FLEXTRACE_NONE: recorded by the program */
	uint32_t collective;      /* number, from 0 */
	uint32_t err_ns;          /* UINT32_MAX: no bound */
};

struct exchanges {
	struct collectives collectives;
	struct exchange *all; /* owned: by collective, then by start */
	uint32_t n;
	uint32_t n_processes; /* 0, 1, or 2: several have any */
};

/* FLEXTRACE_E_MEMORY or 0; exchanges_release() in any case. */
int exchanges_find(struct exchanges *exchanges, const struct findings *findings);
void exchanges_release(struct exchanges *exchanges);

/* The exchanges of one collective. */
struct together {
	const struct exchange *first; /* weak: by start */
	uint32_t n;
	uint64_t skew_ns;          /* from the first start to the last; UINT64_MAX: not known */
	bool is_unsure;            /* exchanges_are_close(): the first and the last */
	double alg_gbps, bus_gbps; /* the best: who came last waited for nobody */
};

/* Finds those of the next collective; begins where all is zero. False: there is none. */
bool exchanges_next(const struct exchanges *exchanges, struct together *together);

/* Whether the error of their starts is as large as what is between them, or nobody knows it. */
bool exchanges_are_close(const struct exchange *one, const struct exchange *later);

/* Stores the bandwidths of so many bytes in a time, by the factors of collective_op(). */
void exchange_rates(uint64_t bytes, uint64_t dur_ns, double size, double bus, double *ret_alg_gbps,
                    double *ret_bus_gbps);

#endif
