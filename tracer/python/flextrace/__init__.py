# SPDX-License-Identifier: Apache-2.0
"""Python programs on flextrace's timeline, and its tables as frames of pandas.

    import flextrace

    with flextrace.scope("load", path=path):
        ...

Record with `flextrace record -- python3 program.py`. What nobody records costs little; where flextrace or LTTng is not
installed, nothing is recorded and nothing fails. `python3 -m flextrace program.py` traces a program as it is.
flextrace(7) and docs/guides/python.md tell the rest.
"""
from ._hook import disable, enable, lines
from ._scopes import (annotate, counter, enabled, instant, process, schedule, scope, set_dialect, set_rank,
                      start, step, stop, thread_name, traced, window)

__all__ = ["annotate", "counter", "disable", "enable", "enabled", "instant", "lines", "process", "read", "schedule",
           "scope", "set_dialect", "set_rank", "start", "step", "stop", "thread_name", "traced", "window"]


def read(directory):
    """The tables of a conversion, `flextrace convert -o DIRECTORY`: see Tables. Needs pandas."""
    from ._tables import Tables
    return Tables(directory)
