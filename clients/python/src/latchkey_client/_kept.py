"""What is kept between two runs: the file license.json, which the clients of all languages read."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any, Callable, TypeVar

from ._clock import Clock
from ._entitlement import read_public_keys
from ._json import get
from ._machine import read_fingerprint

# What is kept of a license, and gone when it is deactivated.
NO_LICENSE: dict[str, Any] = {
    "key": None,
    "activation_id": None,
    "entitlement": None,
    "refused": None,
    "release": None,
    "request": None,
    "trial_wanted": False,
}

_TEXTS = ("key", "activation_id", "entitlement", "install_id", "last_answer_at")
_GROUPS = {"refused": ("reason",), "release": ("key", "activation_id", "machine_id"), "request": ("nonce",)}


def read_kept(file: dict[str, Any]) -> dict[str, Any]:
    """Returns all fields; one of another type counts as absent, and those of other versions survive."""
    clock = get(file, "clock", dict)
    return {
        **file,
        **{name: get(file, name, str) for name in _TEXTS},
        **{name: _read_group(file.get(name), required) for name, required in _GROUPS.items()},
        "version": 1,
        "keys": read_public_keys(file.get("keys")),
        "clock": {name: get(clock, name, int) or 0 for name in Clock._fields},
        "machine": read_fingerprint(file.get("machine")),
        "sharing": get(file, "sharing", bool),
        "trial_wanted": file.get("trial_wanted") is True,
    }


def merge_kept(kept: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Adds what was changed before the file could be read. A random machine id counts only with its license."""
    machine = changes.get("machine") or kept["machine"]
    is_random = machine is not None and machine["machine_id"].startswith("generated-")
    if is_random and not changes.get("entitlement"):
        machine = kept["machine"] or machine
    return {**kept, **changes, "machine": machine}


def _read_group(group: Any, required: tuple[str, ...]) -> Any:
    return group if all(get(group, name, str) for name in required) else None


def read_file(path: str) -> bytes | None:
    """Returns the content of a file, or None if there is none. Raises OSError if a file cannot be read."""

    def read() -> bytes | None:
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    return _retry(read)


def write_file(path: str, text: str) -> None:
    """Writes a file beside, flushes it, and renames it: a killed process leaves the old one or the new one."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(".tmp", "license.json.", folder)  # Only its owner can read it.
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _retry(lambda: os.replace(temporary, path))
    except BaseException:
        os.unlink(temporary)
        raise


# More than writing takes, and than the clocks of a network differ.
_TEMPORARY_LIFETIME_S = 3600


def remove_old_temporaries(folder: str) -> None:
    """Removes the temporary files that killed programs left."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not (name.startswith("license.json.") and name.endswith(".tmp")):
            continue
        if os.path.getmtime(path) < time.time() - _TEMPORARY_LIFETIME_S:
            os.unlink(path)


_Outcome = TypeVar("_Outcome")


def _retry(work: Callable[[], _Outcome]) -> _Outcome:
    """Tries again within 200 ms: a virus scanner may hold a file, or too many files be open, for a moment."""
    for attempt in range(1, 5):
        try:
            return work()
        except OSError:
            time.sleep(0.02 * attempt)
    return work()
