# SPDX-License-Identifier: Apache-2.0
"""python3 -m flextrace"""
from ._run import main

main()
