# SPDX-License-Identifier: Apache-2.0
"""python -m penstock ...: the command penstock, for when its folder is not in PATH."""
import os
import sys

from penstock import program

os.execv(program(), ["penstock", *sys.argv[1:]])
