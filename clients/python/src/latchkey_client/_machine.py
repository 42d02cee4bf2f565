"""The identity of the machine on Windows, macOS and Linux."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Callable

# What the systems print, in any language; an image before its first start has `uninitialized` or zeros.
_PRINTED = {
    "reg.exe": re.compile(r"^[ \t]*MachineGuid[ \t]+REG_SZ[ \t]+([\w{}-]+)[ \t]*\r?$", re.MULTILINE | re.ASCII),
    "ioreg": re.compile(r'"IOPlatformUUID" = "([\w-]+)"', re.ASCII),
    "machine-id": re.compile(r"^\s*(?!0+\s*\Z)([0-9a-fA-F]{32})\s*\Z"),
}

# What vendors of boards write instead of a serial number.
_PLACEHOLDER = re.compile(
    r"default string|to be filled by o\.e\.m\.?|not (specified|applicable|available)|none|n/a"
    r"|(system|board) serial number|0+|x+|[-. ]*",
    re.IGNORECASE,
)

_TIMEOUT_S = 5


def find_machine_id(source: str, text: str) -> str | None:
    """Returns the machine id in what `reg.exe` or `ioreg` printed, or in the file `machine-id`."""
    match = _PRINTED[source].search(text)
    if match is None:
        return None
    return match[1].lower() if source == "machine-id" else match[1]


def read_fingerprint(value: Any) -> dict[str, Any] | None:
    """Returns the texts and lists of texts of a fingerprint; None without a `machine_id`."""
    parts = dict(value) if isinstance(value, Mapping) else {}
    for name, part in list(parts.items()):
        if not all(isinstance(each, str) for each in (part if isinstance(part, list) else [part])):
            del parts[name]
    return parts if isinstance(parts.get("machine_id"), str) and parts["machine_id"] else None


def is_generated(machine: Mapping[str, Any] | None) -> bool:
    """Whether an identity is a random one, of a system that has none."""
    return machine is not None and machine["machine_id"].startswith("generated-")


def _run(*command: str) -> str:
    """Returns what a program prints, without a shell; an empty text if it fails."""
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    options: Any = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": _TIMEOUT_S}
    try:
        done = subprocess.run(command, **options, creationflags=flags)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("ascii", "replace") if done.returncode == 0 else ""


def _read(path: str) -> str:
    """Returns the text of a file; an empty one if it cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(4096)
    except OSError:
        return ""


def read_machine(
    system: str = sys.platform,
    run: Callable[..., str] = _run,
    read: Callable[[str], str] = _read,
) -> dict[str, Any] | None:
    """Reads the identity of this machine; None if the system has none."""
    if system == "win32":
        # The full path, because a folder of the user may precede in PATH; /reg:64 for programs of 32 bits.
        program = os.environ.get("SystemRoot", r"C:\Windows") + r"\System32\reg.exe"
        value = (r"HKLM\SOFTWARE\Microsoft\Cryptography", "/v", "MachineGuid", "/reg:64")
        return _name(find_machine_id("reg.exe", run(program, "query", *value)))
    if system == "darwin":
        return _name(find_machine_id("ioreg", run("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")))
    texts = (read(path) for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"))
    found = filter(None, (find_machine_id("machine-id", text) for text in texts))
    return _name(next(found, None), read("/sys/class/dmi/id/board_serial").strip())


def _name(machine_id: str | None, board_serial: str = "") -> dict[str, Any] | None:
    if machine_id is None or _PLACEHOLDER.fullmatch(board_serial):
        return None if machine_id is None else {"machine_id": machine_id}
    return {"machine_id": machine_id, "board_serial": board_serial}


def describe_network() -> str:
    """Returns the address of this computer in its network; another one means another network. It sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return ""  # There is no route.
