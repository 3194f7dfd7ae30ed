# SPDX-License-Identifier: Apache-2.0
"""make_trace.py [--later] DIR [SEED]: traces of two ranks as the torch profiler writes them: steps, functions in functions, kernels
with their launches, collectives of which rank 1 is late, copies, memory. Without SEED names are plain; with it they are what
an attacker, or a damaged file, would have as names. --later: another run, in which one kernel is slower, one faster, one
new and one gone."""
import json
import os
import random
import sys

STEPS = 40

ATTACKS = [
    "</script><script>window.broken = 1</script>", "<img src=x onerror=\"window.broken = 1\">", "<!--<script>", "--><svg onload=window.broken=1>",
    "\"><iframe src=javascript:parent.broken=1>", "' onmouseover='window.broken = 1", "\\u003cscript>", "{{7*7}}${7*7}", "__proto__",
    "constructor", "toString", "=HYPERLINK(\"http://127.0.0.1/\")", "'=1+1", "\u2028window.broken=1\u2029", "\u202egnp.exe", "a;b;;c;", "\u0001\u001f\t\r\n",
    "long " * 2000, "]]>", "&lt;b&gt;&amp;", "@import url(http://127.0.0.1/)", "\ud7ff\ue000\ufffd", "%3Cscript%3E", "\\", "\"", "", "void f<int, 3>(float const*)",
]


class Names:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed

    def __call__(self, plain):
        if self.seed is None:
            return plain
        if self.random.random() < 0.5:
            return self.random.choice(ATTACKS)
        letters = "<>/\"'`&;=\\-!{}$#\u2028\u00e9\u4e2d\U0001f525 \t\nscriptonerror"
        return "".join(self.random.choice(letters) for _ in range(self.random.randrange(1, 40)))


def trace_of(rank, names, later):
    events, at, number = [], 1_000_000.0, rank * 100_000

    def add(category, name, start, duration, pid, tid, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args})

    def launch(name, start, length, late=0.0, category="kernel", **args):
        nonlocal number
        number += 1
        add("cuda_runtime", "cudaLaunchKernel", start, 4.0, 100 + rank, 1, correlation=number)
        add(category, name, start + 6.0 + late, length, rank, 7, correlation=number, device=rank, stream=7, **args)

    for step in range(STEPS):
        slow = 5.0 if step == 17 else 1.0
        begin = at
        add("user_annotation", f"ProfilerStep#{step}", begin, 900.0 * slow, 100 + rank, 1)
        add("cpu_op", names("aten::linear"), begin + 10, 120, 100 + rank, 1)
        add("cpu_op", names("aten::addmm"), begin + 20, 90, 100 + rank, 1)
        launch(names("gemm_kernel<float>"), begin + 40, (240.0 if later else 200.0) * slow + step % 7)
        launch(names("softmax_kernel"), begin + 300 * slow, (21.0 if later else 30.0) + step % 3)
        launch(names("fused_gelu_kernel" if later else "gelu_kernel"), begin + 380 * slow, 9.0 + step % 2)
        launch("Memcpy HtoD (Pinned -> Device)", begin + 350 * slow, 25.0, category="gpu_memcpy", bytes=1 << (10 + step % 6))
        launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", begin + 420 * slow + 60 * rank, 130.0 - 60 * rank, **{
            "Collective name": "allreduce", "In msg nelems": 1 << (8 + step % 8), "Out msg nelems": 1 << (8 + step % 8), "Group size": 2, "dtype": "Float",
            "Process Group Name": "0", "Process Group Ranks": "[0, 1]"})
        at += (935.0 if later else 900.0) * slow
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events}


def main():
    later = sys.argv[1] == "--later"
    folder, *seeds = sys.argv[1 + later:]
    seed = int(seeds[0]) if seeds else None
    for rank in range(2):
        path = os.path.join(folder, f"rank{rank}.pt.trace.json")
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(trace_of(rank, Names(seed), later), file, ensure_ascii=bool(seed and seed % 2))


if __name__ == "__main__":
    main()
