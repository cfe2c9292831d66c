# SPDX-License-Identifier: Apache-2.0
from penstock import ops as ops
from penstock import targets as targets
from penstock.fleet import open_many as open_many
from penstock.loader import Loader as Loader
from penstock.loader import LoaderError as LoaderError
from penstock.marks import batch as batch
from penstock.marks import mark as mark
from penstock.marks import recording as recording
from penstock.marks import step as step
from penstock.trace import Trace as Trace
from penstock.trace import TraceError as TraceError
from penstock.trace import open as open

__version__: str

def agent() -> str: ...
def program(name: str = "penstock") -> str: ...
