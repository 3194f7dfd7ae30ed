/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs_fixture.h: kernels of some ranks from literals, and what a compiler says of them.
 */
#ifndef FLEXTRACE_TESTS_COSTS_FIXTURE_H
#define FLEXTRACE_TESTS_COSTS_FIXTURE_H

#include "analysis/analysis.h"
#include "findings/utilization.h"

#define COSTS_MAX_DEVICES 8

struct costs_fixture {
	struct timeline timeline;
	struct findings findings; /* of it */
	struct identity identity;
	struct process processes[COSTS_MAX_DEVICES];
	struct device devices[COSTS_MAX_DEVICES];
	struct track tracks[COSTS_MAX_DEVICES];
	struct ledger ledger;
	struct string_pool *strings; /* owned */
	struct string_cache cache;
	struct compiler_info info;
	struct kernel_costs costs;
	struct kernel_times times; /* of another run */
	bool has_times;
	uint32_t n_ops_allocated;
	int64_t now_ns; /* end of the last kernel */
	char *dir;      /* owned */
};

/* cmocka's set-up and tear-down. */
int costs_start(void **state);
int costs_stop(void **state);
#define COSTS_TEST(name) cmocka_unit_test_setup_teardown(name, costs_start, costs_stop)

/* Adds a process of this rank with one device and returns the device's index. */
uint32_t costs_device(struct costs_fixture *fixture, int32_t rank);

/* Adds a kernel 10 ns behind the last one; `cycles` of its counter. */
void costs_kernel(struct costs_fixture *fixture, uint32_t device, const char *name,
                  int64_t duration_ns, uint64_t cycles);

/* Adds kernels of 100 ns and 50 cycles each, named by words of a text. */
void costs_kernels(struct costs_fixture *fixture, uint32_t device, const char *names);

/* Adds a source with any number of tables: "PREFILL a-opCatA 12 b-opCatB 0; a-opCatA 1"; the phase
 * may be missing; "AUTOPILOT a-opCatA 1": it is on. */
void costs_source(struct costs_fixture *fixture, const char *tables);

/* Takes kernel times from lines "rank,kind,name,calls,total_ns" of another run's kernels.csv. */
void costs_times(struct costs_fixture *fixture, const char *lines);

/* Matches; a clock of 0 is the trace's. */
void costs_run(struct costs_fixture *fixture, double core_hz);

/* Asserts which row each kernel got, in the order of their addition: "A:12 B:0/prefill - ?", `-`
 * for a kernel of a run that its table does not name, `?` for one without a table. */
void costs_expect(const struct costs_fixture *fixture, const char *expected);

/* Asserts the file of an analysis. */
void costs_expect_file(const struct costs_fixture *fixture, const char *file, const char *expected);

#endif
