# SPDX-License-Identifier: Apache-2.0
"""Python functions and lines as intervals, without a change of the program: enable(), disable(), lines().

The hook is in C (hook.c). Where the interpreter lacks what that needs, one in Python does the same, slower.
"""
import atexit
import re
import sys
import threading
from time import monotonic_ns

from ._library import library
from ._scopes import as_bytes, file_name

OWN_MODULE = __name__.partition(".")[0]


class Choice:
    """Which functions are recorded: those of `modules` (None = all) and of what is below these. In a hook by line also
    those of `functions`, as "module:qualified.name", with their lines."""

    def __init__(self, modules=None, functions=(), with_c=False, by_line=False):
        if sys.version_info < (3, 11):  # code objects know their last name only
            functions = [re.sub(":.*[.]", ":", name) for name in functions]
        self.modules = modules
        self.functions = frozenset(functions)
        self.with_c = with_c
        self.by_line = by_line

    def describe(self, code, module, has_lines=False):
        """What is told of a function: name, file, line, whether it is recorded, and its lines."""
        name = getattr(code, "co_qualname", code.co_name)
        has_lines = has_lines or f"{module}:{name}" in self.functions
        is_chosen = has_lines or self.modules is None or is_below(module, self.modules)
        is_chosen = is_chosen and not is_below(module, (OWN_MODULE,))
        return (as_bytes(f"{module}.{name}"), file_name(code.co_filename), code.co_firstlineno, is_chosen,
                has_lines and is_chosen)

    def describe_frame(self, frame):
        module = frame.f_globals.get("__name__")
        return self.describe(frame.f_code, module if isinstance(module, str) else "")


def is_below(module, modules):
    return any(module == name or module.startswith(name + ".") for name in modules)


class HookInC:
    """Hooks threads with the library's hook."""

    def __init__(self, choice):
        self.choice = choice
        library.choose(self.add, choice.with_c, choice.by_line)
        self.unhook = library.unhook
        self.enter = library.call

    def add(self, frame):
        library.add(frame.f_code, *self.choice.describe_frame(frame))

    def add_lines(self, function):
        library.add(function.__code__, *self.choice.describe(function.__code__, function.__module__, True))

    def hook(self, frame):
        library.hook(resume, frame)


class HookInPython:
    """The same by sys.setprofile() and sys.settrace()."""

    def __init__(self, choice):
        self.choice = choice
        self.described = {}  # by code object
        self.own = threading.local()  # `calls` of the thread that have not returned: lists, see open()

    def add_lines(self, function):
        self.described[function.__code__] = self.choice.describe(function.__code__, function.__module__, True)

    def hook(self, _):
        if self.choice.by_line:
            sys.settrace(self.on_trace)
        else:
            sys.setprofile(self.on_profile)

    def unhook(self):
        if self.choice.by_line:
            sys.settrace(None)
        else:
            sys.setprofile(None)
        while self.calls():
            self.close(-1)

    def calls(self):
        if not hasattr(self.own, "calls"):
            self.own.calls = []
        return self.own.calls

    def find(self, frame):
        if frame.f_code not in self.described:
            self.described[frame.f_code] = self.choice.describe_frame(frame)
        return self.described[frame.f_code]

    def open(self, key, name, file, line):
        self.calls().append([key, name, file, line, monotonic_ns() if library.is_on() else 0, 0, 0])

    def close(self, place):
        self.close_line(place)
        _, name, file, line, begin_ns, _, _ = self.calls().pop(place)
        if begin_ns:
            library.scope(begin_ns, name, file, line, None)

    def close_line(self, place):
        call = self.calls()[place]
        _, name, file, _, _, line, line_ns = call
        if line_ns:
            library.scope(line_ns, b"%s:%d" % (name, line), file, line, None)
        call[6] = 0

    def place(self, key):
        return next((i for i, call in reversed([*enumerate(self.calls())]) if call[0] is key), None)

    def enter(self, frame):
        name, file, line, is_chosen, has_lines = self.find(frame)
        if is_chosen:
            self.open(frame, name, file, line)
        frame.f_trace_lines = has_lines
        return self.on_event if is_chosen else None

    def on_profile(self, frame, event, arg):
        if event == "call":
            self.enter(frame)
        elif event == "return":
            self.leave(frame)
        elif event == "c_call" and self.choice.with_c and self.find(frame)[3]:
            names = getattr(arg, "__module__", None), getattr(arg, "__qualname__", None)
            self.open(arg, as_bytes(".".join(name for name in names if isinstance(name, str))), b"", 0)
        elif event in ("c_return", "c_exception") and self.choice.with_c:
            self.leave(arg)

    def leave(self, key):
        place = self.place(key)
        if place is not None:
            self.close(place)

    def on_trace(self, frame, event, _):
        return self.enter(frame) if event == "call" else None

    def on_event(self, frame, event, _):
        place = self.place(frame)
        if place is not None and event == "return":
            self.close(place)
        elif place is not None and event == "line":
            self.close_line(place)
            self.calls()[place][5:] = frame.f_lineno, monotonic_ns() if library.is_on() else 0
        return self.on_event


hook = None  # from choose() on
is_whole = False  # the program is recorded from its begin to its end
_waiting = []  # functions of lines() until there is a hook


def choose(choice):
    """Before anything is hooked: makes the hook."""
    global hook
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)
    hook = HookInC(choice) if library.has_hook() and has_lock() else HookInPython(choice)
    for function in _waiting:
        hook.add_lines(function)
    _waiting.clear()
    atexit.register(end)  # before modules are taken apart, which the hook needs


def resume(frame, event, _):
    """The hook that a new thread begins with, and what sys.getprofile() and sys.gettrace() show."""
    thread = threading.current_thread()
    hook.hook(frame)
    if thread is not threading.main_thread():
        library.thread_name(as_bytes(thread.name))
    return hook.enter(frame) if event == "call" else None


def _hook_threads(function):
    if hook.choice.by_line:
        threading.settrace(function)
    else:
        threading.setprofile(function)


def begin():
    """Hooks the calling thread, and those that begin from now on."""
    if not library.can_record():
        return
    if hook is None:
        choose(Choice())
    _hook_threads(resume)
    hook.hook(sys._getframe())


def end():
    if hook is not None and library.can_record():
        hook.unhook()
        _hook_threads(None)


def enable():
    """Records the functions that the calling thread calls from here on, and threads that begin before disable().

    `python3 -m flextrace -p` says which functions; without it, all are. A program that is traced whole is so anyway.
    """
    if not is_whole:
        begin()


def disable():
    """Ends what enable() began. Functions that are not left are recorded as if they ended here."""
    if not is_whole:
        end()


def lines(function):
    """Decorates a function whose lines `python3 -m flextrace -l` records. The function stays as it is."""
    wrapped = function
    while hasattr(wrapped, "__wrapped__"):
        wrapped = wrapped.__wrapped__
    if hook is None:
        _waiting.append(wrapped)
    else:
        hook.add_lines(wrapped)
    return function
