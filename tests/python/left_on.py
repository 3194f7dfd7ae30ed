# SPDX-License-Identifier: Apache-2.0
"""enable() without disable(), and objects that end with the interpreter."""
import flextrace


class Late:
    def __del__(self):
        late()


def late():
    pass


flextrace.enable()
late()
kept = Late()
