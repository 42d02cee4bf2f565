"""A program with a license: `python3 main.py help` lists what it does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from latchkey_client import Latchkey, Result, State

SERVICE = os.environ.get("LICENSE_SERVICE", "http://127.0.0.1:8080")

latchkey = Latchkey(
    service=SERVICE,
    issuer=os.environ.get("LICENSE_ISSUER", SERVICE),
    products=["personal", "sellers"],
    public_keys=[],  # compile in the list `keys` of /.well-known/jwks.json of your service
    folder=os.environ.get("LICENSE_FOLDER", str(Path.home() / ".example-program")),
    app_version="1.0.0",
    on_problem=lambda code, message: print(f"{code}: {message}", file=sys.stderr),
)


def describe(state: State) -> str:
    if state.kind == "licensed":
        return f"Licensed: {state.tier}. Runs without a network for {state.days_left} days."
    if state.kind == "trial":
        return f"Trial: {state.days_left} days left."
    if state.reason == "not_activated":
        return "No license yet: activate KEY, or trial."
    return f"May not run: {state.reason}."


def report(result: Result) -> None:
    if result:
        print(describe(latchkey.state))
    elif result.code == "no_answer":
        print(f"No answer of the service: {result.cause}.")
    else:
        print(f"Refused: {result.code}.")


def show_machines() -> None:
    result = latchkey.machines()
    for machine in result.machines:
        status = "active" if machine.is_active else "free"
        print(f"{machine.activation_id}  {status}{'  (this one)' if machine.is_this else ''}")
    if not result:
        report(result)


COMMANDS = {
    "state": lambda _: print(describe(latchkey.state)),
    "activate": lambda key: report(latchkey.activate(key)),
    "trial": lambda _: report(latchkey.start_trial()),
    "check": lambda _: report(latchkey.check()),
    "machines": lambda _: show_machines(),
    "move": lambda activation_id: report(latchkey.move_here(activation_id)),
    "deactivate": lambda _: report(latchkey.deactivate()),
    "explain": lambda _: print(latchkey.explain(), end=""),
    "help": lambda _: print(f"Commands: {', '.join(COMMANDS)}"),
}

if __name__ == "__main__":
    command, argument, *_ = [*sys.argv[1:], "state", ""] if len(sys.argv) == 1 else [*sys.argv[1:], ""]
    COMMANDS.get(command, COMMANDS["help"])(argument)
    latchkey.close()
