# SPDX-License-Identifier: Apache-2.0
"""What a world leaves behind, and what is true of it."""
from dataclasses import dataclass


@dataclass
class Recording:
    options: list  # of the conversion; what they state is true
    traces: list  # of ctf_writer.Trace
    truth: dict  # {tag: times_ns, since the world's begin; clock; stamps of device work}
    start_ns: int  # what times of the output count from to the world's begin
    tick_ns: float  # of the device's counter: a stamp may be this much before what it marks
