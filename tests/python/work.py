# SPDX-License-Identifier: Apache-2.0
"""A program that knows nothing of flextrace: json and difflib at work, with threads, generators, recursion, exceptions
and coroutines. Prints what it found, and ends with the status that it is given."""
import asyncio
import difflib
import json
import sys
import threading

TEXT = [f"line {i % 17} of {i * i % 23}" for i in range(120)]


def changed(lines, every):
    for i, line in enumerate(lines):
        if i % every:
            yield line
        else:
            yield line.upper()


def depth(value):
    if isinstance(value, dict):
        return 1 + max((depth(item) for item in value.values()), default=0)
    return 0


def compare(every):
    return "\n".join(difflib.unified_diff(TEXT, list(changed(TEXT, every)), lineterm=""))


def decode(text):
    try:
        return json.JSONDecoder().decode(text)
    except json.JSONDecodeError as error:
        return {"error": error.msg}


class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__(name=f"worker {number}")
        self.number = number
        self.found = None

    def run(self):
        self.found = len(compare(self.number + 2))


async def wait_for(number):
    for _ in range(number):
        await asyncio.sleep(0)
    return number


async def wait_for_all():
    return sum(await asyncio.gather(*(wait_for(i) for i in range(5))))


def main():
    documents = [json.dumps({"a": {"b": {"c": i}}, "list": list(range(i))}, indent=1) for i in range(20)]
    depths = [depth(decode(text[:len(text) - (i % 3 == 0)])) for i, text in enumerate(documents)]
    workers = [Worker(i) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(depths), len(compare(5)), [worker.found for worker in workers], asyncio.run(wait_for_all()))
    return int(sys.argv[1]) if len(sys.argv) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
