# SPDX-License-Identifier: Apache-2.0
"""Known cases: worlds in which certified rows were outside their bounds, or out of order.

A finding stays here when it is mended: it then holds what was won.
"""
from collections import namedtuple

# keeps_promise: whether what docs/clocks.md promises for was true of the world
Finding = namedtuple("Finding", "name kind seed settings keeps_promise situation")

NO_OPTIONS = {"states_floors": False, "states_rate_ppm": False, "states_dispatch": False,
              "states_rate": False}
FROM_START = {"host_start_ns": 10**12, "clock_offset_ns": 0}
ONE_OF_ALL = {"n_domains": 1, "n_streams": 1, "n_processes": 1}
NOTHING_LACKS = {"lost_part": 0, "missing_stamp_part": 0, "duplicated_part": 0}
SEEN_AT_ONCE = {"poll_ns": 0, "batch": 1}
PLAIN = {**NO_OPTIONS, **FROM_START, **ONE_OF_ALL, **NOTHING_LACKS, **SEEN_AT_ONCE,
         "n_queues": 1, "recorded": "both", "reads_per_s": 0}

SLOW_COUNTER = {**PLAIN, "rate_off_ppm": 0, "lengths": "exp", "counter_bits": 32,
                "wander": "none"}
BURSTS = {**SLOW_COUNTER, "arrivals": "burst", "nominal_factor": None, "duration_ns": 20e9,
          "length_ns": 5e6}
LONG_WORK = {**PLAIN, "states_dispatch": True, "counter_bits": 32, "counter_hz": 560e6,
             "length_ns": 6e9, "lengths": "exp", "n_operations": 160, "duration_ns": 100e9,
             "arrivals": "open", "reads_per_s": 1, "read_ns": 2000., "nominal_factor": 1.0,
             "operation_kind": 2, "record_delay_ns": 0, "rho_ppm": 10, "submit_tail": "exp",
             "complete_tail": "exp", "submit_tail_ns": 2000., "complete_tail_ns": 2000.,
             "submit_floor_ns": 2000., "complete_floor_ns": 4000., "wander": "none"}
NOMINAL_TOO_LOW = {**PLAIN, "nominal_factor": .975, "n_operations": 600, "duration_ns": 400e9,
                   "counter_bits": 24, "counter_hz": 560e6, "length_ns": 3e6, "lengths": "fixed",
                   "arrivals": "open", "submit_floor_ns": 1000., "complete_floor_ns": 1000.}
NOMINAL_WRONG = {**PLAIN, "counter_hz_min": 1e6, "counter_bits": 32, "nominal_factor": 2.4,
                 "arrivals": "full", "n_operations": 72, "length_ns": 260e6, "lengths": "exp",
                 "counter_hz": 557.1e6, "rho_ppm": 10, "wander": "none", "record_delay_ns": 0}
SHORT_WRAP = {"lost_part": 0, "counter_bits": 16, "length_ns": 1e3}
NUMBERS_AGAIN = {**PLAIN, **SHORT_WRAP, "lengths": "fixed", "counter_hz": 1e8,
                 "nominal_factor": 1.0, "recorded": "reuse", "n_job_numbers": 16, "n_queues": 4,
                 "arrivals": "open", "duration_ns": 46e6, "n_operations": 1459,
                 "submit_floor_ns": 106115., "complete_floor_ns": 4000., "submit_tail": "exp",
                 "complete_tail": "bimodal", "submit_tail_ns": 50e3, "complete_tail_ns": 9e3,
                 "rho_ppm": 10, "record_delay_ns": 0, "operation_kind": 2}
DENSE = {"counter_hz": 560e6, "counter_bits": 32, "nominal_factor": 1.0, "rate_off_ppm": 5.,
         "wander": "none", "arrivals": "open", "n_queues": 1, "length_ns": 60e3,
         "lengths": "fixed", "recorded": "both", "reads_per_s": 0, "record_delay_ns": 0,
         "submit_floor_ns": 2000., "complete_floor_ns": 4000., "submit_tail": "exp",
         "complete_tail": "exp", "submit_tail_ns": 340., "complete_tail_ns": 1000.,
         "operation_kind": 2}
FAR_FROM_MARKS = {"n_boots": 0, "operation_part": 1.0, "recorded_window": (.45, .55),
                  "reads_per_s": 0, "length_ns": 2e5, "lengths": "exp", "n_runs": 600,
                  "duration_ns": 20e9, "n_cores": 1, "n_domains": 1, "counter_bits": 64,
                  "counter_hz": 560e6, "nominal_factor": 1.0, "lost_part": 0, "wander": "halves",
                  "wander_part": .97, "submit_tail": "exp", "complete_tail": "exp",
                  "submit_tail_ns": 1000., "complete_tail_ns": 1000.}
ALL_THERE = {"groups": "world", "exit_growth_ns": 0, "rate_off_ppm": 50, "late_part": 0,
             "early_part": 0, "lost_part": 0, "reference_rank": None}
TWO_HOSTS = {**ALL_THERE, "n_ranks": 2, "n_ranks_per_host": 1, "skews": "exp"}
RARELY_TIGHT = {**TWO_HOSTS, "n_meetings": 1000, "skew_ns": 10e3, "tail": "rare",
                "spacing": "even", "wander": "none", "duration_ns": 20e9, "floor_ns": 1000.,
                "tail_ns": 30., "messages": "both", "has_collectives": False}
MET_IN_PARTS = {**TWO_HOSTS, "duration_ns": 150e9, "n_meetings": 400, "skew_ns": 3000.,
                "floor_ns": 1000., "tail_ns": 400., "tail": "exp", "wander": "halves",
                "wander_part": .97, "messages": 0, "has_collectives": True,
                "operation": "all_reduce"}
STRAGGLER = {**ALL_THERE, "n_ranks": 6, "n_ranks_per_host": 1, "duration_ns": 60e9,
             "n_meetings": 1200, "messages": 0, "has_collectives": True,
             "operation": "all_reduce", "spacing": "even", "floor_ns": 5000., "wander": "sine",
             "skew_ns": 3e5, "skews": "last", "tail": "exp", "tail_ns": 3000.,
             "breaks": [(0, "slew", .5, 100, 3e9)]}

FINDINGS = [
    Finding("slow-counter-10khz", "devices", 1,
            {**BURSTS, "n_operations": 20, "counter_hz": 1e4}, True,
            "A counter of 10 kHz whose rate is not stated, 20 operations in bursts."),
    Finding("slow-counter-900hz", "devices", 1536,
            {**SLOW_COUNTER, "n_operations": 600, "counter_hz": 900., "duration_ns": 700e9,
             "arrivals": "gap", "length_ns": 26e6, "nominal_factor": 1.0}, True,
            "A counter of 900 Hz whose rate is stated rightly, 600 operations with long pauses."),
    Finding("slow-counter-33khz", "devices", 37,
            {**BURSTS, "n_operations": 200, "counter_hz": 32768.}, True,
            "A counter of 32 768 Hz whose rate is not stated, 200 operations in bursts."),
    Finding("dispatch-host-times-lack", "devices", 10503, {**LONG_WORK, "recorded": "mixed"}, True,
            "Work of 6 s in a full queue and a true --max-dispatch-ns; a fifth of the operations "
            "lacks its submit time, a fifth its complete time."),
    Finding("dispatch-records-lost", "devices", 10522,
            {**LONG_WORK, "lost_part": .05, "lost_in_bursts": False}, True,
            "Work of 6 s in a full queue and a true --max-dispatch-ns; one record in 20 is lost."),
    Finding("nominal-2.5-percent-low-short-segments", "devices", 7, NOMINAL_TOO_LOW, True,
            "A 24-bit counter that wraps each 30 ms, stated 2.5 % too slow; 600 operations in "
            "400 s."),
    Finding("nominal-2.5-percent-low-few-certified", "devices", 10, NOMINAL_TOO_LOW, True,
            "A 24-bit counter that wraps each 30 ms, stated 2.5 % too slow; its rate wanders."),
    Finding("nominal-2.4-times", "devices", 507, NOMINAL_WRONG, True,
            "A counter that is stated 2.4 times too fast, 72 operations in a queue that is "
            "always full."),
    Finding("nominal-half-of-16-bits", "devices", 709,
            {**SHORT_WRAP, "counter_hz_min": 1e6, "counter_hz": 1e7}, True,
            "A 16-bit counter that wraps each 6.5 ms and is stated at half its rate."),
    Finding("break-of-hosts-suspected-652", "ranks", 652, {}, True,
            "Two ranks send messages; one in a hundred is fast, the others are late by up to "
            "hundreds of times as much."),
    Finding("break-of-hosts-suspected-3", "ranks", 3, RARELY_TIGHT, True,
            "Two ranks send messages between clocks of constant rates; one in a hundred is fast."),
    Finding("boots-set-back-13mhz", "markers", 19, {}, False,
            "A device boots three times; each boot sets its counter of 13 MHz back by some time."),
    Finding("boots-set-back-rate-open", "markers", 194, {}, False,
            "A device boots three times; each boot sets its counter back; no rate is stated."),
    Finding("boots-set-low", "markers", 285, {}, False,
            "A device boots three times; each boot sets its 32-bit counter to a small number."),
    Finding("boot-set-back-26mhz", "markers", 336, {}, False,
            "A device boots once, which sets its counter back; no rate is stated; 29 operations."),
    Finding("boots-set-back-9mhz", "markers", 353, {}, False,
            "A device boots three times; each boot sets its counter of 9 MHz back by some time."),
    Finding("step-of-30-ppm", "breaks", 1,
            {**DENSE, "n_operations": 2000, "duration_ns": 2e9,
             "breaks": [("rate", 1e9, 4e9, -30)]}, False,
            "1000 operations a second for 2 s; the rate falls by 30 ppm in the middle."),
    Finding("step-of-50-ppm", "breaks", 2,
            {**DENSE, "n_operations": 600, "duration_ns": 6e8,
             "breaks": [("rate", 3e8, 4e9, -50)]}, False,
            "1000 operations a second for 0.6 s; the rate falls by 50 ppm in the middle."),
    Finding("counter-restarts-with-each-job", "breaks", 5677, {}, False,
            "A counter that restarts with each job; 1000 jobs a second of mixed lengths."),
    Finding("met-in-the-middle-only", "ranks", 12, {**MET_IN_PARTS, "spacing": "mid"}, True,
            "Two ranks meet in the middle tenth of a run; each clock has one rate, then another."),
    Finding("met-in-five-bursts", "ranks", 2, {**MET_IN_PARTS, "spacing": "burst"}, False,
            "Two ranks meet in five bursts; each clock has one rate, then another. From the first "
            "meeting to the last, rates are up to 2.06 ppm off their mean there."),
    Finding("six-ranks-in-parts", "ranks", 5871, {"tail": "exp"}, True,
            "Six ranks send messages; rates go up and down within the promise."),
    Finding("slew-beside-a-straggler", "ranks", 2, STRAGGLER, False,
            "Six ranks meet, one always late by 0.3 ms; the reference is slewed by 100 ppm for "
            "3 s."),
    Finding("numbers-again-all-drawn", "devices", 806,
            {**SHORT_WRAP, "counter_hz": 1e8}, True,
            "Job numbers come again before their completion was seen; a counter that wraps each "
            "0.65 ms."),
    Finding("numbers-again-in-four-queues", "devices", 812, NUMBERS_AGAIN, True,
            "16 job numbers come again in four queues, some completions are seen late; a counter "
            "that wraps each 0.65 ms."),
    Finding("numbers-again-in-one-queue", "devices", 814, {**NUMBERS_AGAIN, "n_queues": 1}, True,
            "16 job numbers come again in one queue, some completions are seen late; nothing is "
            "lost."),
    Finding("numbers-again-records-lost", "devices", 806, {**NUMBERS_AGAIN, "lost_part": .05}, True,
            "16 job numbers come again in four queues, some completions are seen late; one record "
            "in 20 is lost."),
    Finding("marks-far-from-operations", "markers", 5, FAR_FROM_MARKS, True,
            "600 firmware runs, operations in a tenth of the time only; times of marks are cut "
            "off at their drain."),
    Finding("false-resets-of-a-slow-counter", "devices", 31916, {"counter_hz_min": 125e3}, True,
            "A counter of 433 kHz in 16 queues; completions are seen four at a time, records are "
            "lost in bursts."),
    Finding("host-jumps-under-a-full-queue", "breaks", 437, {}, False,
            "A queue that is always full; the host's clock jumps five times by up to 0.6 s."),
    Finding("resets-under-a-full-queue", "breaks", 5566, {}, False,
            "A queue that is always full; the counter is set five times, mostly within an "
            "operation."),
]
