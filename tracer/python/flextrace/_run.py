# SPDX-License-Identifier: Apache-2.0
"""python3 -m flextrace: runs a program as the interpreter would, and records its functions or lines."""
import argparse
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types

from . import _hook

EPILOG = """The program's functions are recorded while a recording runs: flextrace record -- python3 -m flextrace ..."""


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python3 -m flextrace", usage="%(prog)s [OPTION]... [-m MODULE | SCRIPT] [ARGUMENT]...",
        description="Runs a Python program and records its functions, as intervals of its threads.", epilog=EPILOG)
    parser.add_argument("-p", dest="in_parts", action="store_true",
                        help="only what lies between flextrace.enable() and flextrace.disable()")
    parser.add_argument("-l", dest="by_line", action="store_true",
                        help="lines of the functions that @flextrace.lines or --functions names; other functions only "
                             "with --modules")
    parser.add_argument("--modules", metavar="NAME,...", type=names,
                        help="functions of these modules, and of what is below them; default: all")
    parser.add_argument("--functions", metavar="MODULE:NAME,...", type=names, default=[],
                        help="lines of these functions, with -l; NAME as in json.decoder:JSONDecoder.decode")
    parser.add_argument("--c-functions", action="store_true",
                        help="also the functions in C that these functions call; not with -l")
    parser.add_argument("-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER,
                        help="run a module, as python3 -m does")
    parser.add_argument("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    check(parser, options)
    return options


def names(text):
    return [name for name in text.split(",") if name]


def check(parser, options):
    if not (options.module or options.script):
        parser.error("a script or -m MODULE is missing")
    if options.functions and not options.by_line:
        parser.error("--functions names functions whose lines are recorded: add -l")
    if options.by_line and options.c_functions:
        parser.error("-l and --c-functions exclude each other")
    for name in options.functions:
        if ":" not in name:
            parser.error(f"--functions takes MODULE:NAME: {name}")


def choose(options):
    modules = options.modules
    if modules is None and options.by_line:
        modules = []
    _hook.choose(_hook.Choice(modules, options.functions, options.c_functions, options.by_line))


# -- the program --


def new_main():
    """The module that the program is, in place of this one."""
    main_module = types.ModuleType("__main__")
    main_module.__dict__["__builtins__"] = sys.modules["builtins"]
    main_module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = main_module
    return main_module


def read_script(path):
    """The code of a script, or of what was compiled of one."""
    with io.open_code(path) as file:
        code = pkgutil.read_code(file)
    if code is None:
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    return code


def set_first_path(path):
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = path


def prepare_script(path):
    """What is to be called to run it."""
    main_module = new_main()
    if pkgutil.get_importer(path) is not None:  # a directory, or a zip file
        set_first_path(path)
        return lambda: runpy._run_module_as_main("__main__", False)
    path = os.path.join(os.getcwd(), path)
    set_first_path(os.path.dirname(os.path.realpath(path)))
    code = read_script(path)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    vars(main_module).update(__file__=path, __cached__=None, __loader__=loader, __package__=None)
    return lambda: exec(code, vars(main_module))


def prepare_module(name):
    new_main()
    return lambda: runpy._run_module_as_main(name)


def prepare(options):
    if options.module:
        sys.argv[:] = options.module
        return prepare_module(options.module[0])
    sys.argv[:] = options.script
    try:
        return prepare_script(options.script[0])
    except OSError as error:
        path = os.path.join(os.getcwd(), options.script[0])
        print(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)


def hide_own_frames():
    """What the interpreter prints of an exception that ends the program begins with the program."""
    show = sys.excepthook

    def show_program(kind, error, traceback):
        frame = traceback
        while frame:
            if frame.tb_frame.f_code.co_filename == __file__:
                traceback = frame.tb_next
            frame = frame.tb_next
        show(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = show_program


def main():
    options = parse(sys.argv[1:])
    choose(options)
    try:
        run = prepare(options)
        _hook.is_whole = not options.in_parts
        if not options.in_parts:
            _hook.begin()
        run()
    except BaseException:
        _hook.end()
        hide_own_frames()
        raise
    _hook.end()
