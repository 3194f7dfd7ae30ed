#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peak.py FILE COMMAND...: runs a command and writes the most memory that it had resident, in bytes, to FILE."""
import os
import sys

pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(usage.ru_maxrss * 1024, file=file)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
