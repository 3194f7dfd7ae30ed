# SPDX-License-Identifier: Apache-2.0
"""A program that calls all of flextrace's functions; check_api.py knows what it does."""
import asyncio
import contextlib
import threading

import flextrace

flextrace.process("api", "1.0")
flextrace.set_rank(3, 8)
flextrace.set_dialect("cuda")


@flextrace.scope
def bare(n):
    return n if n == 0 else bare(n - 1)


@flextrace.traced("named", size=3)
def named():
    with flextrace.scope("inner", path="a b", bytes=12):
        flextrace.counter("depth", 2.5)


@flextrace.scope("coroutine")
async def coroutine(n):
    with flextrace.scope("task", number=n):
        for _ in range(3):
            await asyncio.sleep(0)
            plain()
    async with flextrace.scope("async with"), contextlib.AsyncExitStack() as stack:
        stack.enter_context(flextrace.scope("on a stack"))
        await asyncio.sleep(0)


@flextrace.traced
def generator():
    yield from range(3)


def plain():
    with flextrace.scope("plain"):
        pass


async def crossing():
    await asyncio.gather(*(coroutine(i) for i in range(4)))


class Unprintable:
    def __str__(self):
        raise ValueError


def work(number):
    flextrace.thread_name(f"thread {number}")
    for _ in range(100):
        plain()


def fail():
    with flextrace.scope("fails"):
        raise KeyError


assert bare(3) == 0
named()
asyncio.run(crossing())
first, second = generator(), generator()
assert [*zip(first, second)] == [(0, 0), (1, 1), (2, 2)]
with flextrace.scope("unprintable ü", value=Unprintable()), flextrace.window("measured"):
    flextrace.instant("here")
    flextrace.annotate("model", "granite")
try:
    fail()
except KeyError:
    pass
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

flextrace.stop()
assert not flextrace.enabled()
with flextrace.scope("unseen"):
    flextrace.instant("unseen")
flextrace.schedule(wait=1, warmup=1, active=2, repeat=2)
for n in range(10):
    flextrace.step()
    with flextrace.scope(f"step {n}"):
        pass
flextrace.start()
flextrace.step(100)
