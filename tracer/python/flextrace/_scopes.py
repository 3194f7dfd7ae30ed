# SPDX-License-Identifier: Apache-2.0
"""What a program calls to be recorded: intervals, points, steps and windows."""
import functools
import itertools
import sys
from time import monotonic_ns

from ._library import library

ARGS_BYTES = 255  # as the macros in C have it

# Flags of code that may be left and gone on with: generators, coroutines, and those of older kinds.
SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200
IS_GENERATOR, IS_COROUTINE, IS_ASYNC_GENERATOR = 0x20, 0x80, 0x200

_is_on = library.is_on
_record = library.scope


def as_bytes(text):
    return str(text).encode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=4096)
def file_name(path):
    return as_bytes(path.rpartition("/")[2])


def args_text(args):
    """`key=value key=value`; what cannot be said as text does not stop the program."""
    if not args:
        return None
    try:
        text = as_bytes(" ".join(f"{key}={value}" for key, value in args.items()))
    except Exception:  # of some __str__()
        text = as_bytes(" ".join(args))
    return text[:ARGS_BYTES].decode("utf-8", "ignore").encode()


def _begin_async(name, args):
    identity = library.next_id()
    library.async_begin(name, identity)
    if args:
        library.annotate(name, args)
    return identity


class scope:
    """An interval, for `with`, `async with`, and as a decorator.

        with flextrace.scope("load", path=path):
            ...

    Keywords are its arguments, as text. In a coroutine or a generator, which others run in between of, it becomes an
    async interval, and its arguments an annotation of its name. One object is one interval at a time.
    """

    __slots__ = ("_name", "_args", "_begin_ns", "_place", "_id")

    def __new__(cls, name, /, **args):
        if callable(name):
            return traced(name)
        self = object.__new__(cls)
        self._name = name
        self._args = args
        self._begin_ns = self._id = 0
        return self

    def __enter__(self):
        self._begin_ns = self._id = 0
        if not _is_on():
            return self
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == "contextlib":  # an ExitStack
            frame = frame.f_back
        code = frame.f_code
        if code.co_flags & SUSPENDS:
            self._id = _begin_async(as_bytes(self._name), args_text(self._args))
        else:
            self._place = file_name(code.co_filename), frame.f_lineno, args_text(self._args)
            self._begin_ns = monotonic_ns()
        return self

    def __exit__(self, *_):
        if self._begin_ns:
            _record(self._begin_ns, as_bytes(self._name), *self._place)
        elif self._id:
            library.async_end(as_bytes(self._name), self._id)

    async def __aenter__(self):
        self._begin_ns = 0
        self._id = _begin_async(as_bytes(self._name), args_text(self._args)) if _is_on() else 0
        return self

    async def __aexit__(self, *_):
        if self._id:
            library.async_end(as_bytes(self._name), self._id)

    def __call__(self, function):
        return _wrap(function, as_bytes(self._name), args_text(self._args))


def traced(function, /, **args):
    """Decorates a function: `@traced`, or `@traced("name", key=value)`. Without a name, it has its own.

    A coroutine or a generator is one async interval from its begin to its end. Async generators stay as they are.
    """
    if not callable(function):
        return scope(function, **args)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return _wrap(function, as_bytes(f"{function.__module__}.{name}"), None)


def _wrap(function, name, args):
    if isinstance(function, type):
        raise TypeError("flextrace traces functions, not classes")
    code = getattr(function, "__code__", None)
    flags = code.co_flags if code else 0
    if flags & IS_ASYNC_GENERATOR:
        return function
    if flags & IS_COROUTINE:
        return _wrap_coroutine(function, name, args)
    if flags & IS_GENERATOR:
        return _wrap_generator(function, name, args)
    return _wrap_function(function, name, args, code)


def _wrap_function(function, name, args, code):
    file = file_name(code.co_filename) if code else b""
    line = code.co_firstlineno if code else 0

    @functools.wraps(function)
    def call(*positional, **keywords):
        begin_ns = monotonic_ns() if _is_on() else 0
        try:
            return function(*positional, **keywords)
        finally:
            if begin_ns:
                _record(begin_ns, name, file, line, args)

    return call


def _wrap_coroutine(function, name, args):
    @functools.wraps(function)
    async def call(*positional, **keywords):
        identity = _begin_async(name, args) if _is_on() else 0
        try:
            return await function(*positional, **keywords)
        finally:
            if identity:
                library.async_end(name, identity)

    return call


def _wrap_generator(function, name, args):
    @functools.wraps(function)
    def call(*positional, **keywords):
        identity = _begin_async(name, args) if _is_on() else 0
        try:
            return (yield from function(*positional, **keywords))
        finally:
            if identity:
                library.async_end(name, identity)

    return call


class window:
    """A measured window of the program: `with flextrace.window("training"):`."""

    __slots__ = ("_name",)

    def __init__(self, name, /):
        self._name = as_bytes(name)

    def __enter__(self):
        library.window_begin(self._name)
        return self

    def __exit__(self, *_):
        library.window_end(self._name)


# -- points --


def instant(name):
    """Something that happens now."""
    if _is_on():
        library.instant(as_bytes(name))


def counter(name, value):
    """A sample of a number."""
    if _is_on():
        library.counter(as_bytes(name), float(value))


def annotate(key, value):
    """A fact about the run, as text."""
    if _is_on():
        library.annotate(as_bytes(key), as_bytes(value))


# -- who records --


def thread_name(name):
    """Names the calling thread."""
    library.thread_name(as_bytes(name))


def process(runtime, version=""):
    """Names the runtime that the program is, and its version."""
    library.process(as_bytes(runtime), as_bytes(version))


def set_dialect(name):
    """Chooses whose names kinds have in what is shown: "neutral", "aiu", "cuda" or "tt-metal"."""
    library.set_dialect(as_bytes(name))


def set_rank(rank, world_size=0):
    """Sets the rank, where the environment does not tell it; 0 = the size of the world is not known."""
    library.set_rank(rank, world_size)


def enabled():
    """True while scopes are recorded, for work that only tracing needs."""
    return bool(_is_on())


# -- what is recorded when --


class _Schedule:
    """Steps of one cycle; a window stands around the active ones."""

    NAME = b"schedule"

    def __init__(self, wait, warmup, active, repeat):
        self._idle = wait + warmup
        self._cycle = self._idle + active
        self._repeat = repeat
        self._n_steps = 0
        self._is_active = False
        library.record(0)

    def _set(self, is_active):
        if is_active == self._is_active:
            return
        self._is_active = is_active
        if is_active:
            library.record(1)
            library.window_begin(self.NAME)
        else:
            library.window_end(self.NAME)
            library.record(0)

    def advance(self):
        n_cycles, place = divmod(self._n_steps, self._cycle)
        self._n_steps += 1
        self._set(place >= self._idle and not 0 < self._repeat <= n_cycles)

    def end(self):
        self._set(False)


_schedule = None
_numbers = itertools.count()


def _choose(new, is_recorded):
    global _schedule
    if _schedule:
        _schedule.end()
    _schedule = new
    if new is None:
        library.record(is_recorded)


def start():
    """Records what this package has to record, as it does from the begin on; ends a schedule."""
    _choose(None, 1)


def stop():
    """Records nothing of this package any more; ends a schedule. What other code in the process records goes on."""
    _choose(None, 0)


def schedule(wait=0, warmup=0, active=1, repeat=0):
    """Records by step(): leaves out `wait` and `warmup` steps, records `active` ones, and so on, `repeat` times.

    Without `repeat`, for ever. Nothing is recorded before the first step. With `flextrace record --windows-only`, all
    code in the process follows.
    """
    if min(wait, warmup, repeat) < 0 or active < 1:
        raise ValueError("flextrace.schedule() takes numbers of steps, and at least one that is active")
    if _schedule:
        _schedule.end()
    _choose(_Schedule(wait, warmup, active, repeat), 1)


def step(number=None):
    """Begins step `number` of the program, an iteration or a token; without a number, the next one from 0 on."""
    number = next(_numbers) if number is None else number
    if _schedule:
        _schedule.advance()
    library.step(number)
