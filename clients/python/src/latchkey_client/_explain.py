"""A text for support."""

from __future__ import annotations

import platform
import sys

from ._json import format_time, hash_text
from ._session import Session
from ._version import __version__


def explain(session: Session) -> str:
    """Describes a client. The text contains no key except its last group, no token and no machine id."""
    kept, state = session.kept, session.state
    set_back = " (was set back)" if state.clock_went_back else ""
    lines = [
        ("state", ", ".join(filter(None, (state.kind, state.reason)))),
        ("until", state.until),
        ("tier", state.tier),
        ("features", ", ".join(state.features)),
        ("key", kept["key"] and f"…{kept['key'][-5:]}"),
        ("machine", f"{hash_text(kept['machine']['machine_id'])[:8]} (SHA-256)"),
        ("last answer", state.last_answer_at or "never"),
        ("last question", session.last_question),
        ("refused", kept["refused"] and f"{kept['refused']['reason']} at {kept['refused'].get('at', '')}"),
        ("waiting", _list_waiting(session)),
        ("time", format_time(session.present_ms)),
        ("device clock", format_time(session.now()) + set_back),
        ("service", session.service),
        ("program", session.versions["app_version"]),
        ("client", f"latchkey-client {__version__}, Python {platform.python_version()}, {sys.platform}"),
        *(("problem", problem) for problem in session.problems),
    ]
    return "".join(f"{name}: {text}\n" for name, text in lines if text)


def _list_waiting(session: Session) -> str:
    waiting = {
        "to be freed": session.kept["release"],
        "trial to be started": session.kept["trial_wanted"],
        "request without a connection": session.kept["request"],
    }
    return ", ".join(name for name, is_open in waiting.items() if is_open)
