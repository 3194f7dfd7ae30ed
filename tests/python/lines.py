# SPDX-License-Identifier: Apache-2.0
"""A program two functions of which are recorded by line."""
import flextrace


@flextrace.lines
def work(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += helper(i)
    return sum(x for x in range(total))


def helper(i):
    return [i][0]


class Recursive:
    @flextrace.lines
    def work(self, n):
        try:
            if n == 0:
                raise ValueError
            return self.work(n - 1)
        except ValueError:
            return sum(self.each())
        finally:
            helper(n)

    @flextrace.lines
    def each(self):
        yield 1
        yield 2


work(50)
Recursive().work(5)
