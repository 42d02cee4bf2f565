"""Tests of the client; `python3 -m unittest discover` in the folder above runs them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
