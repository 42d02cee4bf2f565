"""Licenses in a Python program, with a Latchkey service: activation, trials, checks, and use without a network.

A program creates one `Latchkey`, which may be used from any thread: calls run one after the other, and `state` can be
read at any time. After the constructor, nothing raises an exception into the program.
"""

from ._answers import Machine, Received, Result, send_with_urllib
from ._client import Latchkey
from ._machine import read_machine
from ._state import State
from ._version import __version__

__all__ = ["Latchkey", "Machine", "Received", "Result", "State", "__version__", "read_machine", "send_with_urllib"]
