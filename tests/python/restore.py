# SPDX-License-Identifier: Apache-2.0
"""Takes off the profiler that it finds, and sets it back, from other functions: as libraries do around code that is not
to be profiled."""
import sys


class Unprofiled:
    def __enter__(self):
        self.found = sys.getprofile()
        sys.setprofile(None)

    def __exit__(self, *_):
        sys.setprofile(self.found)


def inner():
    pass


def outer():
    inner()
    with Unprofiled():
        inner()
    inner()


outer()
inner()
