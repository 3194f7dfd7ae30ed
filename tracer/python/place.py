# SPDX-License-Identifier: Apache-2.0
"""place.py PREFIX: where this Python looks for packages below PREFIX, relative to it; nothing if nowhere."""
import os
import sys

for path in sys.path:
    if path.endswith("-packages") and path.startswith(os.path.join(sys.argv[1], "")):
        print(os.path.relpath(path, sys.argv[1]))
        break
