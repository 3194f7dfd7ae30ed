#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs.py TOP FLEXTRACE: every block of code in the documents is one that the suite compiles or runs, or says why not.
docs.py TOP --script DOCUMENT: the lines that tests/e2e/docs.sh runs of a document, for sh. --list: those that have any.

What stands behind the language of a fence, or in `.\\" sh` before a `.Bd` of a man page:
  file=PATH         the block is this file (without its first comments)
  as=NAME           the block is written into NAME, for the lines behind it
  needs=NAME        it runs where this command, or module of Python, is there
  not-run: REASON   it is not run; the options that flextrace is given in it are known all the same, as in the text
sh and python run in their order, in one folder for a document; python sees what the blocks of Python above it define.
json is parsed. c and cpp are lines of a file in docs/examples or of a patch in tests/examples, which the suite compiles
and runs ("..." stands for lines left out); so is what stands in the comments of public headers. Without a language a
block is a picture, or what a program printed."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

FENCE = re.compile(r"^( *)```(.*)$")
MDOC = {r"\e": "\\", r"\&": "", r"\(aq": "'", r"\(dq": '"', r"\-": "-"}
COMMAND = re.compile(r"(\$ )?(flextrace [a-z]+( |$)|(babeltrace2|lttng|cmake|ctest|c?cc?|python3|docker|mpirun|apt-get) "
                     r"|\./|(scripts|tests|build)/)")
STATEMENT = re.compile(r"FLEXTRACE_[A-Z_]+\((?:(?!  |[.] ).)*?\);|flextrace::\w+ s\{.*?\}\};")
PLACE = re.compile(r"[A-Z|.]+|\[.*|wait,warmup,active,repeat")


class Block:
    """One block: its document, line, language and text, and what its fence says."""

    def __init__(self, document, line, told):
        self.place = f"{document}:{line}"
        told, mark, reason = told.partition("not-run:")
        words = told.split()
        self.language = words.pop(0) if words else ""
        self.is_run, self.reason = not mark, reason.strip()
        self.marks = dict(word.partition("=")[::2] for word in words)
        self.lines = []

    @property
    def text(self):
        return "".join(f"{line}\n" for line in self.lines)


def blocks_of(top, document):
    found, block, indent, told = [], None, 0, ""
    is_page = document.suffix != ".md"
    for number, line in enumerate((top / document).read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if is_page:
            for escape, character in MDOC.items():
                line = line.replace(escape, character)
        if block is None and (line.startswith(".Bd -literal") if is_page else fence):
            block = Block(document, number, told if is_page else fence[2])
            indent = 0 if is_page else len(fence[1])
        elif block and (line == ".Ed" if is_page else fence):
            found.append(block)
            block = None
        elif block:
            block.lines.append(line[indent:])
        told = line[4:] if line.startswith('.\\" ') else ""
    return found


def documents_of(top):
    names = [top / "README.md", top / "CONTRIBUTING.md", *sorted(top.glob("docs/**/*.md")),
             *sorted(top.glob("tests/*/*.md")), *sorted(top.glob("docs/man/*.[17]"))]
    return [name.relative_to(top) for name in names]


def bare(text):
    """Without blanks and without comments that begin with `//`, which stand in comments of headers."""
    return "".join(re.sub(r"//.*", "", text).split())


def headless(text):
    return re.sub(r"\A(/\*.*?\*/\n)+|^/\* clang-format \w+ \*/\n", "", text, flags=re.S | re.M).strip()


class Check:
    """All that is wrong with the documents."""

    def __init__(self, top, flextrace):
        self.top, self.flextrace, self.bad, self.parsed = top, flextrace, [], {}
        self.count = dict.fromkeys(("run", "compiled", "parsed", "not run", "pictures"), 0)
        self.compiled = [bare(path.read_text()) for path in (*sorted(top.glob("docs/examples/*.*")),
                                                             top / "firmware-markers/qemu/firmware/markers_config.h")]
        for patch in top.glob("tests/examples/*.patch"):
            self.compiled.append(bare("\n".join(re.findall(r"^\+(.*)$", patch.read_text(), re.M))))
        builds = (top / "tests/e2e/CMakeLists.txt").read_text() + (top / "tests/freestanding/porting.sh").read_text()
        for path in top.glob("docs/examples/*.[ch]*"):
            if path.name not in builds and not any(f'"{path.name}"' in text for text in self.compiled):
                self.bad.append(f"docs/examples/{path.name}: no test compiles it")

    def code(self, block):
        if "file" in block.marks:
            path = self.top / block.marks["file"]
            if not path.is_file() or headless(path.read_text()) != headless(block.text):
                self.bad.append(f"{block.place}: not what stands in {block.marks['file']}")
            return
        self.lines(block.place, block.text)

    def lines(self, place, text):
        for part in re.split(r"^\s*\.\.\.\n", text, flags=re.M):
            if not any(bare(part) in compiled for compiled in self.compiled):
                self.bad.append(f"{place}: in no file of docs/examples, and in no patch of tests/examples:\n{part}")

    def header(self, path):
        """What is indented by a tab in its comments, and statements within their text."""
        place = path.relative_to(self.top)
        for comment in re.findall(r"/\*.*?\*/", path.read_text(), re.S):
            for block in re.findall(r"(?:^ \*\t.*\n)+", comment, re.M):
                self.lines(place, re.sub(r"^ \*", "", block, flags=re.M))
                self.count["compiled"] += 1
            for line in STATEMENT.findall(re.sub(r"\n \*", "", comment)):
                self.lines(place, line)

    def block(self, block):
        if set(block.marks) - {"file", "as", "needs"} or (not block.is_run and len(block.reason) < 8):
            self.bad.append(f"{block.place}: a mark that means nothing, or no reason behind `not-run:`")
        if not block.is_run:
            kind = "not run"
        elif block.language in ("c", "cpp"):
            kind = "compiled"
            self.code(block)
        elif block.language == "json":
            kind = "parsed"
            json.loads(block.text)
        elif block.language in ("sh", "python"):
            kind = "run"
        else:
            kind = "pictures"
            if block.language:
                self.bad.append(f"{block.place}: {block.language} is not run: say why, by `not-run: REASON`")
            for line in filter(COMMAND.match, block.lines):
                self.bad.append(f"{block.place}: a command in a block that has no language: {line}")
        self.count[kind] += 1
        if block.language == "sh" and subprocess.run(["sh", "-n"], input=block.text, text=True).returncode:
            self.bad.append(f"{block.place}: sh does not read it")
        if block.language == "python":
            compile(block.text, block.place, "exec")

    def options_of(self, command):
        if command not in self.parsed:
            told = subprocess.run([self.flextrace, "options", command], capture_output=True, text=True).stdout
            rows = [row.split("\t") for row in told.splitlines()]
            self.parsed[command] = {f"--{row[2]}" for row in rows} | {f"-{row[1]}" for row in rows if row[1]}
        return self.parsed[command] | {"--help", "-h"}

    def mention(self, place, command, rest):
        """`flextrace COMMAND REST`: its options are the parser's, and so are their values where they are no words
        for one."""
        lexer = shlex.shlex(rest.replace("\\\n", " "), posix=True, punctuation_chars="|&;>)")
        lexer.whitespace_split, lexer.commenters = True, "#"
        words = []
        for word in lexer:
            if word == "--" or word[0] in "|&;>)<":
                break
            words.append(word)
        options = [word for word in words if word.startswith("-") and len(word) > 1]
        known = self.options_of(command)
        for option in options:
            name = option.partition("=")[0] if option.startswith("--") else option[:2]
            if name not in known:
                self.bad.append(f"{place}: `flextrace {command}` has no option {name}")
        if options and words != options[:1] and not any(PLACE.fullmatch(word.partition("=")[2] or word) for word in words):
            told = subprocess.run([self.flextrace, command, *words, "--help"], capture_output=True, text=True)
            if told.returncode:
                self.bad.append(f"{place}: flextrace {command} {' '.join(words)}: {told.stderr.strip()}")

    def mentions(self, document, commands):
        text = (self.top / document).read_text()
        if document.suffix != ".md":
            for escape, character in MDOC.items():
                text = text.replace(escape, character)
            spans = re.findall(r"^\.(?:Ql|Dl) (.*)$", text, re.M)
        else:
            spans = re.findall(r"(?<!`)`([^`]+)`(?!`)", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))
            spans = [" ".join(span.split()) for span in spans]
        spans += [line for block in blocks_of(self.top, document) for line in
                  block.text.replace("\\\n", " ").splitlines()]
        for span in spans:
            for found in re.finditer(rf"\bflextrace ({commands})\b(?![-.])(.*)", span):
                self.mention(document, *found.groups())
        for preset in re.findall(r"--preset (\w+)", text):
            if f'"name": "{preset}"' not in (self.top / "CMakePresets.json").read_text():
                self.bad.append(f"{document}: there is no preset {preset}")

    def all(self):
        told = subprocess.run([self.flextrace, "--help"], capture_output=True, text=True).stdout
        commands = "|".join(re.findall(r"^  ([a-z]+) ", told.partition("Commands:")[2], re.M))
        for document in documents_of(self.top):
            for block in blocks_of(self.top, document):
                self.block(block)
            self.mentions(document, commands)
        for header in ("tracer/include/**/*.h*", "firmware-markers/**/include/flextrace/*.h"):
            for path in sorted(self.top.glob(header)):
                self.header(path)
        print("\n".join(self.bad) or "blocks: " + ", ".join(f"{n} {kind}" for kind, n in self.count.items()))
        return bool(self.bad)


def script(top, document):
    """The lines to run, each block behind a line that says where it stands."""
    for block in blocks_of(top, document):
        if not block.is_run or block.language not in ("sh", "python", "json"):
            continue
        lines = block.text
        if "as" in block.marks:
            lines = f"cat >{block.marks['as']} <<'BLOCK'\n{lines}BLOCK\n"
        elif block.language == "python":
            lines = f"cat >>blocks.py <<'BLOCK'\n{lines}BLOCK\npython3 blocks.py\n"
        elif block.language == "json":
            continue
        if "needs" in block.marks:
            lines = f"if has {block.marks['needs']}; then\n{lines}fi\n"
        print(f"at {block.place}\n{lines}", end="")


if __name__ == "__main__":
    top = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "--script":
        script(top, pathlib.Path(sys.argv[3]))
    elif sys.argv[2] == "--list":
        print("\n".join(str(name) for name in documents_of(top) if any(
            block.is_run and block.language in ("sh", "python") for block in blocks_of(top, name))))
    else:
        sys.exit(Check(top, sys.argv[2]).all())
