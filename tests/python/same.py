# SPDX-License-Identifier: Apache-2.0
"""same.py OPTION...: `python3 -m flextrace OPTION... PROGRAM` is for the program and for who runs it what
`python3 PROGRAM` is: output, messages, exit status. Says each difference, and exits 1 if there is one."""
import os
import subprocess
import sys
import tempfile
import textwrap

# name: (files, what follows `python3`)
PROGRAMS = {
    "status": ({"a.py": "import sys; print(sys.argv); sys.exit(3)"}, ["a.py", "-p", "--help"]),
    "message": ({"a.py": "import sys; sys.exit('gone')"}, ["a.py"]),
    "true": ({"a.py": "raise SystemExit(True)"}, ["a.py"]),
    "traceback": ({"a.py": """
        def inner():
            raise ValueError('inner')
        def outer():
            try:
                inner()
            except ValueError as error:
                raise KeyError('outer') from error
        outer()
        """}, ["a.py"]),
    "syntax": ({"a.py": "print('never')\nx = = 1\n"}, ["a.py"]),
    "interrupt": ({"a.py": """
        import os, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
        """}, ["a.py"]),
    "killed": ({"a.py": "import os; print('here', flush=True); os.kill(os.getpid(), 9)"}, ["a.py"]),
    "missing": ({}, ["nowhere/a.py"]),
    "missing module": ({}, ["-m", "no_such_module"]),
    "module": ({}, ["-m", "json.tool", "--no-such-option"]),
    "module's error": ({"a.py": "def f(): return 1 / 0\nf()"}, ["-m", "a", "-l"]),
    "package": ({"pack/__init__.py": "", "pack/__main__.py": "import sys; print(sys.argv[1:], __package__, __name__)"},
                ["-m", "pack", "x"]),
    "directory": ({"dir/__main__.py": "import sys, other; print(sys.argv, other.X)", "dir/other.py": "X = 5"},
                  ["dir", "x"]),
    "main": ({"sub/a.py": """
        import sys, pickle, __main__
        class Thing: pass
        print(__name__, __file__, __spec__, __package__, __builtins__.__name__, sorted(vars(__main__))[:6])
        print(sys.path[0], type(pickle.loads(pickle.dumps(Thing()))), __main__.Thing is Thing)
        print([name for name in sys.modules if name.startswith('__main')])
        """}, ["sub/a.py"]),
    "thread": ({"a.py": """
        import threading
        def work(): raise RuntimeError('in a thread')
        thread = threading.Thread(target=work, name='worker')
        thread.start(); thread.join(); print('after')
        """}, ["a.py"]),
    "late thread": ({"a.py": """
        import atexit, threading
        def work(): threading.main_thread().join(); print('thread')
        atexit.register(print, 'atexit')
        threading.Thread(target=work).start()
        """}, ["a.py"]),
    "recursion": ({"a.py": """
        def deep(n): return deep(n + 1)
        try:
            deep(0)
        except RecursionError as error:
            print(error)
        """}, ["a.py"]),
    "generators": ({"a.py": """
        import asyncio, contextlib
        def gen():
            try:
                while True:
                    print('got', (yield 1))
            except KeyError: print('thrown'); yield 2
            finally: print('closed')
        it = gen(); print(next(it), it.send(5), it.throw(KeyError)); it.close()
        @contextlib.contextmanager
        def manager(): yield 3
        async def main():
            async def ticks():
                for i in range(3): yield i
            return [i async for i in ticks()]
        with manager() as value: print(value, asyncio.run(main()))
        """}, ["a.py"]),
    "own profiler": ({"a.py": """
        import sys, threading
        names = []
        def hook(frame, event, arg):
            if event in ('call', 'return'): names.append((event, frame.f_code.co_name))
        def f(): pass
        saved = sys.getprofile(), sys.gettrace()
        sys.setprofile(hook); f(); sys.setprofile(saved[0])
        sys.settrace(saved[1])
        f(); print(names)
        """}, ["a.py"]),
    "cProfile": ({"a.py": """
        import cProfile, pstats
        def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
        profile = cProfile.Profile(); profile.runcall(f, 10)
        print([(key[2], value[:2]) for key, value in pstats.Stats(profile).stats.items() if key[2] == 'f'])
        """}, ["a.py"]),
    "processes": ({"a.py": """
        import multiprocessing
        def double(n): return 2 * n
        if __name__ == '__main__':
            for way in ('fork', 'spawn'):
                with multiprocessing.get_context(way).Pool(2) as pool:
                    print(pool.map(double, range(5)))
        """}, ["a.py"]),
    "input": ({"a.py": "print(input(), input())"}, ["a.py"]),
    "excepthook": ({"a.py": """
        import sys
        sys.excepthook = lambda kind, error, tb: print('hook', kind.__name__, tb.tb_frame.f_code.co_name, tb.tb_lineno)
        raise ValueError(1)
        """}, ["a.py"]),
}


def write(files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))


def run(options, arguments):
    done = subprocess.run([sys.executable, *options, *arguments], input="one\ntwo\n", capture_output=True, text=True,
                          timeout=300)
    return done.stdout, done.stderr, done.returncode


def main():
    n_different = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, (files, arguments) in PROGRAMS.items():
            os.makedirs(os.path.join(directory, name.replace(" ", "_")))
            os.chdir(os.path.join(directory, name.replace(" ", "_")))
            write(files)
            wanted, found = run([], arguments), run(["-m", "flextrace", *sys.argv[1:]], arguments)
            if wanted != found:
                n_different += 1
                print(f"-- {name}\n   without: {wanted}\n   with:    {found}")
    print(f"{len(PROGRAMS)} programs, {n_different} differ")
    return bool(n_different)


if __name__ == "__main__":
    sys.exit(main())
