# SPDX-License-Identifier: Apache-2.0
"""The library in C that records: `library.scope(...)` is flextrace_python_scope() of records.h, and so on.

It lies beside this file; FLEXTRACE_PYTHON_LIBRARY names another one. Where there is none, or nothing to record with
(no LTTng, FLEXTRACE=0), all functions do nothing and return 0.
"""
import os

PREFIX = "flextrace_python_"


class _Nothing:
    """Stands in for the library."""

    def __getattr__(self, name):
        return self._do_nothing

    @staticmethod
    def _do_nothing(*_):
        return 0


class _Library:
    """Its functions, declared: ctypes would take every result for an int, and cut numbers of 64 bits."""

    def __init__(self, path):
        import ctypes
        from ctypes import c_char_p, c_double, c_int, c_uint32, c_uint64, py_object
        declarations = {
            "can_record": (c_int,),
            "is_on": (c_int,),
            "record": (None, c_int),
            "scope": (None, c_uint64, c_char_p, c_char_p, c_uint32, c_char_p),
            "async_begin": (None, c_char_p, c_uint64),
            "async_end": (None, c_char_p, c_uint64),
            "instant": (None, c_char_p),
            "counter": (None, c_char_p, c_double),
            "annotate": (None, c_char_p, c_char_p),
            "step": (None, c_uint64),
            "window_begin": (None, c_char_p),
            "window_end": (None, c_char_p),
            "thread_name": (None, c_char_p),
            "process": (None, c_char_p, c_char_p),
            "set_dialect": (None, c_char_p),
            "set_rank": (None, c_int, c_int),
            "next_id": (c_uint64,),
            "has_hook": (c_int,),
            "choose": (None, py_object, c_int, c_int),
            "add": (None, py_object, c_char_p, c_char_p, c_uint32, c_int, c_int),
            "hook": (None, py_object, py_object),
            "call": (None, py_object),
            "unhook": (None,),
        }
        # With the interpreter's lock held: no call takes long, and giving it away would.
        functions = ctypes.PyDLL(path)
        for name, (result, *arguments) in declarations.items():
            function = getattr(functions, PREFIX + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)


def _load():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libflextrace-python.so")
    if os.environ.get("FLEXTRACE") == "0":
        return _Nothing()
    try:
        loaded = _Library(os.environ.get("FLEXTRACE_PYTHON_LIBRARY") or here)
    except (ImportError, OSError, AttributeError):
        return _Nothing()
    return loaded if loaded.can_record() else _Nothing()


library = _load()
