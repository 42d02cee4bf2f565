"""What is kept between two runs: the file license.json, which the clients of all languages read."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any, Callable, TypeVar

from ._clock import Clock
from ._entitlement import read_public_keys
from ._json import get
from ._machine import is_generated, read_fingerprint

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
    """Returns all fields; one of another type counts as absent, and those of other versions stay."""
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


def _read_group(group: Any, required: tuple[str, ...]) -> Any:
    return group if all(get(group, name, str) for name in required) else None


def is_activated(kept: dict[str, Any]) -> bool:
    """Whether there is a key or an entitlement."""
    return kept["key"] is not None or kept["entitlement"] is not None


def release_after(kept: dict[str, Any], activation_id: str | None) -> Any:
    """Returns the deactivation that is still to be sent after an activation: not that of this one."""
    release = kept["release"]
    return None if release is not None and release["activation_id"] == activation_id else release


def choose_machine(kept: dict[str, Any], reading: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns the new reading, else the last good one, else None. A random identity stays while a license uses it."""
    last = kept["machine"]
    is_used = is_generated(last) and is_activated(kept)
    return last if reading is None or is_used else reading


def join_run(file: dict[str, Any], run: dict[str, Any], has_own_license: bool) -> dict[str, Any]:
    """Returns the content of a file that could not be read at first, with what the run changed until it could.

    A trial of the run does not replace a license.
    has_own_license: whether the run activated a license, apart from a trial, or removed it again.
    """
    is_trial_kept = not is_activated(file) or run["activation_id"] == file["activation_id"]
    is_replaced = has_own_license or (is_activated(run) and is_trial_kept)
    return {
        **file,
        **(_replace_license(file, run) if is_replaced else _keep_license(file, run)),
        "release": run["release"] or release_after(file, run["activation_id"]),
        "clock": _join_clocks(file["clock"], run["clock"]),
        "install_id": file["install_id"] or run["install_id"],
        "sharing": file["sharing"] if run["sharing"] is None else run["sharing"],
        "last_answer_at": run["last_answer_at"] or file["last_answer_at"],
    }


def _replace_license(file: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    is_same = run["entitlement"] is not None and run["activation_id"] == file["activation_id"]
    return {
        **{name: run[name] for name in NO_LICENSE},
        # The answer to a machine without a connection has no key.
        "key": run["key"] or (file["key"] if is_same else None),
        "keys": run["keys"] or file["keys"],
        "machine": run["machine"] or file["machine"],
    }


def _keep_license(file: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    # A system that cannot read the file may not have read its identity either.
    reading = None if is_generated(run["machine"]) else run["machine"]
    return {
        "keys": file["keys"] or run["keys"],
        "machine": choose_machine(file, reading) or run["machine"],
        "request": run["request"] or file["request"],
        "trial_wanted": file["trial_wanted"] or (run["trial_wanted"] and not is_activated(file)),
    }


def _join_clocks(file: dict[str, int], run: dict[str, int]) -> dict[str, int]:
    latest = run if run["latest_ms"] > 0 else file
    return {"offset_ms": latest["offset_ms"], "latest_ms": max(file["latest_ms"], run["latest_ms"])}


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
