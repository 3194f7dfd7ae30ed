/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_scenes.h: the scenes M1 to M9 by which align is judged, as initializers of struct
 * align_scene without a seed.
 */
#ifndef ALIGN_SCENES_H
#define ALIGN_SCENES_H

/* Hosts that are off by ms, run apart by 20 ppm and wander, started at all times. */
#define HOSTS                                                                              \
	.offset_ns = 5e6, .drift_ppm = 20, .wander_ppm = 0.8, .boot_ns = 1234567890123456, \
	.origin_ns = 98765432109876

#define EIGHT_RANKS .n_ranks = 8, .n_rounds = 2500, .period_ns = 10e6
#define LIES        .drop_share = 0.05, .false_share = 0.01

/* clang-format off */
#define SCENE_M1 "m1_random_straggler", EIGHT_RANKS, .straggle_ns = 2e6, HOSTS
#define SCENE_M2 "m2_fixed_straggler", EIGHT_RANKS, .straggle_ns = 2e6, .is_fixed = true, HOSTS
#define SCENE_M3 "m3_fixed_straggler_by_little", EIGHT_RANKS, .straggle_ns = 3e5, \
	.is_fixed = true, HOSTS
#define SCENE_M4 "m4_four_ranks_a_host", EIGHT_RANKS, .ranks_per_host = 4, .straggle_ns = 2e6, HOSTS
#define SCENE_M5 "m5_dropped_and_mismatched", EIGHT_RANKS, .straggle_ns = 2e6, LIES, HOSTS
#define SCENE_M6 "m6_slewed_hosts", EIGHT_RANKS, .straggle_ns = 2e6, .slew_ppm = 15, HOSTS
#define SCENE_M7 "m7_many_ranks", .n_ranks = 32, .n_rounds = 600, .period_ns = 10e6, \
	.straggle_ns = 2e6, HOSTS
#define SCENE_M8 "m8_straggler_by_much", .n_ranks = 8, .n_rounds = 1500, .period_ns = 30e6, \
	.straggle_ns = 20e6, .is_fixed = true, LIES, HOSTS
#define SCENE_M9 "m9_steady_hosts", EIGHT_RANKS, .straggle_ns = 2e6, .offset_ns = 5e6, \
	.drift_ppm = 2
/* clang-format on */

#endif
