/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flextrace_disable.h: under -DFLEXTRACE_DISABLE, makes each call of a function of flextrace.h
 * vanish while its arguments are still type-checked (not evaluated). Included by flextrace.h.
 */
#ifndef FLEXTRACE_DISABLE_H
#define FLEXTRACE_DISABLE_H

/* clang-format off */
#define flextrace_define_process(runtime, version) \
	FLEXTRACE_I_CALL(flextrace_define_process(runtime, version))
#define flextrace_set_dialect(dialect) FLEXTRACE_I_CALL(flextrace_set_dialect(dialect))
#define flextrace_set_rank(rank, world_size) FLEXTRACE_I_CALL(flextrace_set_rank(rank, world_size))
#define flextrace_define_device(device) FLEXTRACE_I_CALL(flextrace_define_device(device))
#define flextrace_define_clock_domain(domain) \
	FLEXTRACE_I_CALL(flextrace_define_clock_domain(domain))
#define flextrace_marker_name(marker) FLEXTRACE_I_CALL(flextrace_marker_name(marker))
#define flextrace_window_begin(name) FLEXTRACE_I_CALL(flextrace_window_begin(name))
#define flextrace_window_end(name) FLEXTRACE_I_CALL(flextrace_window_end(name))
#define flextrace_emit_marker_batch(batch) FLEXTRACE_I_CALL(flextrace_emit_marker_batch(batch))
#define flextrace_thread_init() FLEXTRACE_I_CALL(flextrace_thread_init())
#define flextrace_n_unrecorded() (0 ? flextrace_n_unrecorded() : FLEXTRACE_I_U64(0))
#define flextrace_next_correlations(n) (0 ? flextrace_next_correlations(n) : FLEXTRACE_I_U64(0))
#define flextrace_device_mode() \
	(0 ? flextrace_device_mode() : FLEXTRACE_DEVICE_MODE_OFF)

/* clang-format on */

#endif
