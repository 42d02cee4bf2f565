"""What a program sees of a client, with a service that answers as a test wants."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from latchkey_client import Received, Result, State
from latchkey_client._background import Background

from .support import (
    ACTIVATION_ID,
    DAY_MS,
    KEY,
    MACHINE_ID,
    SIGNER,
    Opened,
    Service,
    activated,
    answer_json,
    answer_page,
    answer_problem,
    validated,
)


class OpenTest(unittest.TestCase):
    def test_lists_all_wrong_arguments(self) -> None:
        wrong: Any = {
            "service": "license.example.com",
            "products": "personal",
            "public_keys": [{}],
            "machine": {},
            "timeout": 0,
        }
        with self.assertRaises(ValueError) as raised:
            Opened(**wrong)
        for name in wrong:
            self.assertRegex(str(raised.exception), rf"\b{name} must")

    def test_starts_without_a_license_and_sends_nothing(self) -> None:
        opened = Opened()
        self.assertEqual(opened.client.state[:3], (False, "none", "not_activated"))
        self.assertEqual((opened.service.requests, opened.problems), ([], []))

    def test_sets_a_damaged_file_aside(self) -> None:
        for text in ("", '{"version":', "\0" * 100, '["license"]', "[" * 100_000):
            opened = Opened()
            opened.file.write_text(text)
            self.assertEqual(opened.open().state.reason, "not_activated")
            self.assertEqual(opened.problems, ["file_damaged"])
            self.assertEqual(opened.file.with_name("license.json.damaged").read_text(), text)

    def test_ignores_fields_of_another_type_and_keeps_unknown_ones(self) -> None:
        opened = Opened()
        names = (
            "key",
            "activation_id",
            "entitlement",
            "keys",
            "refused",
            "clock",
            "release",
            "request",
            "last_answer_at",
        )
        for odd in ("7", "[{}]", '{"reason": 1}', "true"):
            fields = ", ".join(f'"{name}": {odd}' for name in names)
            opened.file.write_text(f'{{"version": 1, "theme": "dark", {fields}}}')
            opened.open().offline_request("personal")
            self.assertEqual(opened.read_kept()["theme"], "dark")
            self.assertEqual(opened.problems, [])

    def make_unreadable(self, opened: Opened) -> Path:
        """Replaces the file by a link to itself, which not even root can read, and returns its new path."""
        moved = opened.folder / "moved"
        opened.file.rename(moved)
        opened.file.symlink_to(opened.file.name)
        return moved

    def test_never_replaces_a_file_that_cannot_be_read(self) -> None:
        opened = Opened().activate()
        moved = self.make_unreadable(opened)
        client = opened.open()
        self.assertTrue(client.offline_request("personal"))
        for result in (client.check(), client.machines(), client.move_here("any"), client.deactivate()):
            self.assertEqual(result.code, "folder_unreadable")
        self.assertEqual(client.state.reason, "not_activated")
        self.assertTrue(opened.file.is_symlink())
        self.assertEqual(set(opened.problems), {"folder_unreadable", "folder_unwritable"})
        moved.replace(opened.file)
        opened.service.answer = lambda path, body: validated()
        self.assertTrue(client.check())
        self.assertEqual(client.state.kind, "licensed")
        kept = opened.read_kept()
        self.assertEqual((kept["key"], kept["machine"]), (KEY, {"machine_id": MACHINE_ID}))
        self.assertIsNotNone(kept["request"])

    def test_reads_the_file_before_a_write_that_comes_later_than_the_start_of_its_call(self) -> None:
        opened = Opened().activate()
        theme = {**opened.read_kept(), "theme": "dark"}
        opened.file.write_text(json.dumps(theme))
        moved = self.make_unreadable(opened)
        client, token = opened.open(), SIGNER.sign_token(tier="sellers")

        def answer(path: str, body: Any) -> Received:
            moved.replace(opened.file)
            return activated(token)

        opened.service.answer = answer
        self.assertTrue(client.activate(KEY))
        self.assertEqual(client.state.tier, "sellers")
        kept = opened.read_kept()
        self.assertEqual((kept["entitlement"], kept["theme"]), (token, "dark"))

    def test_a_trial_that_starts_while_the_license_cannot_be_read_does_not_replace_it(self) -> None:
        opened = Opened().activate()
        before = opened.read_kept()
        moved = self.make_unreadable(opened)
        client, trial = opened.open(), SIGNER.sign_token(trial=True, activation_id="trial")
        content = {"activation_id": "trial", "license_key": "LK-TRIAL", "entitlement": trial}
        opened.service.answer = lambda path, body: answer_json(content)
        self.assertTrue(client.start_trial())
        self.assertEqual(client.state.kind, "trial")
        moved.replace(opened.file)
        opened.service.answer = Service.refuse
        client.check()
        self.assertEqual(client.state.kind, "licensed")
        self.assertEqual(opened.read_kept(), before)

    def test_writes_what_was_joined_even_if_the_call_changes_nothing(self) -> None:
        opened = Opened().activate()
        moved = self.make_unreadable(opened)
        client, token = opened.open(), SIGNER.sign_token(tier="sellers", activation_id="another")
        opened.service.answer = lambda path, body: answer_json({"activation_id": "another", "entitlement": token})
        self.assertTrue(client.activate(KEY))
        moved.replace(opened.file)
        opened.service.answer = Service.refuse
        client.check()
        kept = opened.read_kept()
        self.assertEqual((kept["activation_id"], kept["entitlement"]), ("another", token))

    def test_keeps_the_machine_of_the_license_if_neither_could_be_read(self) -> None:
        opened = Opened().activate()
        moved = self.make_unreadable(opened)
        client = opened.open(machine=lambda: None)
        moved.replace(opened.file)
        self.assertTrue(client.offline_request("personal"))
        self.assertEqual(client.state.kind, "licensed")
        self.assertEqual(opened.read_kept()["machine"], {"machine_id": MACHINE_ID})

    def test_tries_again_when_another_program_holds_the_file(self) -> None:
        opened = Opened().activate()
        held = mock.Mock(side_effect=[PermissionError("held"), PermissionError("held"), mock.DEFAULT], wraps=open)
        with mock.patch("builtins.open", held):
            client = opened.open()
        self.assertEqual((client.state.kind, held.call_count, opened.problems), ("licensed", 3, []))

    def test_continues_in_a_folder_that_cannot_be_written(self) -> None:
        opened = Opened()
        blocked = opened.open(folder=opened.file / "below a file")
        opened.service.answer = lambda path, body: activated()
        self.assertTrue(blocked.activate(KEY))
        self.assertTrue(blocked.state.may_run)
        self.assertIn("folder_unwritable", opened.problems)

    def test_writes_a_file_that_only_its_owner_reads_and_nothing_else(self) -> None:
        opened = Opened().activate()
        self.assertEqual([path.name for path in opened.folder.iterdir()], ["license.json"])
        if os.name != "nt":
            self.assertEqual(opened.file.stat().st_mode & 0o777, 0o600)

    def test_leaves_the_old_file_when_writing_fails(self) -> None:
        opened = Opened().activate()
        before = opened.file.read_text()
        with mock.patch("os.replace", side_effect=OSError("no space left")):
            opened.service.answer = lambda path, body: answer_json({"valid": False, "reason": "license_revoked"})
            opened.client.check()
        self.assertEqual(opened.file.read_text(), before)
        self.assertEqual([path.name for path in opened.folder.iterdir()], ["license.json"])
        self.assertEqual(opened.problems, ["folder_unwritable"])


class MachineIdentityTest(unittest.TestCase):
    def wait_for(self, condition: Any) -> None:
        while not condition():
            time.sleep(0.001)

    def test_keeps_the_last_good_reading_when_a_later_one_fails(self) -> None:
        opened = Opened().activate()
        for failing in (lambda: None, lambda: {"machine_id": ""}, mock.Mock(side_effect=OSError("forbidden"))):
            opened.problems.clear()
            client = opened.open(machine=failing)
            self.assertTrue(client.state.may_run)
            self.wait_for(lambda: opened.problems)
            self.assertEqual(opened.problems, ["machine_unreadable"])
            self.assertEqual(opened.read_kept()["machine"], {"machine_id": MACHINE_ID})

    def test_creates_an_identity_that_stays_while_a_license_uses_it(self) -> None:
        opened = Opened(machine=lambda: None)
        generated = opened.read_kept()["machine"]["machine_id"]
        self.assertRegex(generated, r"^generated-[0-9a-f-]{36}$")
        again = opened.open(machine=lambda: {"machine_id": "read"})
        self.wait_for(lambda: opened.read_kept()["machine"]["machine_id"] == "read")
        again.close()

    def test_does_not_wait_for_a_slow_reading_if_one_is_kept(self) -> None:
        opened, may_end = Opened().activate(), threading.Event()

        def read_slowly() -> dict[str, str]:
            may_end.wait()
            return {"machine_id": MACHINE_ID}

        client = opened.open(machine=read_slowly)
        self.assertTrue(client.state.may_run)
        may_end.set()


class CallsTest(unittest.TestCase):
    def test_activates_and_runs_after_a_restart_without_a_network(self) -> None:
        opened = Opened()
        opened.service.answer = lambda path, body: activated()
        self.assertEqual(opened.client.activate(f" {KEY.lower()} "), Result(True))
        path, body = opened.service.requests[0]
        self.assertEqual((path, body["license_key"]), ("/api/v1/licenses/activate", KEY))
        self.assertEqual(body["machine_fingerprint"]["machine_id"], MACHINE_ID)
        self.assertTrue(opened.client.has("gpu"))
        self.assertFalse(opened.client.has("fleet"))
        opened.service.answer = Service.refuse
        self.assertEqual(opened.open().state[:3], (True, "licensed", None))

    def test_refuses_a_mistyped_key_without_a_request(self) -> None:
        opened = Opened()
        for typed in (KEY.replace("7Q", "Q7"), "", " \n"):
            self.assertEqual(opened.client.activate(typed), Result(False, "key_mistyped"))
        self.assertEqual(opened.service.requests, [])

    def test_moves_here_after_the_limit_was_reached(self) -> None:
        opened = Opened()
        opened.service.answer = lambda path, body: answer_problem(409, "activation_limit_reached", max=1, current=1)
        self.assertEqual(opened.client.activate(KEY), Result(False, "activation_limit_reached", max=1, current=1))
        other = {"activation_id": "a-1", "machine_id": "other", "is_active": True, "os_version": "15.1"}

        def answer(path: str, body: Any) -> Received:
            if path.endswith("/activations"):
                return answer_json([other])
            return activated() if path.endswith("/activate") else answer_json({"success": True})

        opened.service.answer = answer
        opened.service.requests.clear()
        machines = opened.client.machines().machines
        self.assertEqual(
            [(each.activation_id, each.is_this, each.os_version) for each in machines], [("a-1", False, "15.1")]
        )
        self.assertTrue(opened.client.move_here("a-1"))
        steps = [path.rsplit("/", 1)[1] for path, _ in opened.service.requests]
        self.assertEqual(steps, ["activations", "activations", "deactivate", "activate"])
        self.assertTrue(opened.client.state.may_run)

    def test_starts_a_trial_with_the_check_after_a_first_start_without_a_network(self) -> None:
        opened = Opened()
        self.assertEqual(opened.client.start_trial().code, "no_answer")
        trial = SIGNER.sign_token(trial=True, tier="trial")
        content = {"activation_id": ACTIVATION_ID, "license_key": KEY, "entitlement": trial}
        opened.service.answer = lambda path, body: answer_json(content)
        client = opened.open()
        self.assertTrue(client.check())
        self.assertEqual(client.state.kind, "trial")
        self.assertEqual(opened.read_kept()["trial_wanted"], False)

    def test_keeps_a_trial_that_waits_when_the_program_ends_during_a_check(self) -> None:
        opened = Opened()
        opened.client.start_trial()
        with mock.patch("threading.Thread.start", side_effect=RuntimeError("can't start new thread")):
            self.assertEqual(opened.client.check().cause, "connection")
        self.assertTrue(opened.read_kept()["trial_wanted"])
        with mock.patch("latchkey_client._session.exchange", side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, opened.client.check)
        self.assertTrue(opened.read_kept()["trial_wanted"])

    def test_names_why_there_is_no_trial(self) -> None:
        opened = Opened()
        for status, code in (("expired", "trial_expired"), ("revoked", "trial_unavailable")):
            content = {"activation_id": ACTIVATION_ID, "status": status, "entitlement": None}
            opened.service.answer = lambda path, body, content=content: answer_json(content)
            self.assertEqual(opened.client.start_trial(), Result(False, code))

    def test_reports_changes_but_not_those_of_opening(self) -> None:
        opened, seen = Opened().activate(), list[str]()
        client = opened.open()
        client.on_change(lambda state: seen.append(state.kind))
        client.on_change(lambda state: 1 // 0)
        opened.service.answer = lambda path, body: validated()
        client.check()
        opened.service.answer = lambda path, body: answer_json({"valid": False, "reason": "license_revoked"})
        client.check()
        client.check()
        self.assertEqual((seen, opened.problems), (["refused"], ["listener"]))

    def test_explains_without_secrets(self) -> None:
        opened = Opened().activate()
        opened.service.answer = Service.refuse
        opened.client.check()
        text = opened.client.explain()
        self.assertIn("state: licensed\n", text)
        self.assertIn("last question: connection: ConnectionRefusedError: nothing listens\n", text)
        self.assertIn("key: …5WV94\n", text)
        for secret in (KEY, KEY[:20], MACHINE_ID, "eyJ"):
            self.assertNotIn(secret, text)

    def test_turns_an_unexpected_exception_into_a_result(self) -> None:
        opened = Opened()
        self.assertEqual(opened.client.activate(None), Result(False, "unexpected"))  # type: ignore[arg-type]
        self.assertEqual(opened.problems, ["unexpected"])

    def test_ends_a_request_in_time_whatever_the_network_does(self) -> None:
        may_end = threading.Event()
        opened = Opened(timeout=0.05)
        opened.service.answer = lambda path, body: may_end.wait() and activated()
        self.assertEqual(opened.client.activate(KEY).cause, "timeout")
        may_end.set()

    def test_runs_calls_of_many_threads_one_after_the_other(self) -> None:
        opened = Opened().activate()
        running, most = 0, 0

        def answer(path: str, body: Any) -> Received:
            nonlocal running, most
            running += 1
            most = max(most, running)
            time.sleep(0.001)
            running -= 1
            return validated()

        opened.service.answer = answer
        states: list[State] = []
        work = [lambda: opened.client.check(), lambda: states.append(opened.client.state)] * 10
        threads = [threading.Thread(target=each) for each in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((most, len(opened.service.requests)), (1, 10))
        self.assertTrue(all(state.may_run for state in states))


class OfflineTest(unittest.TestCase):
    def accept(self, opened: Opened, **claims: Any) -> Any:
        """Accepts an answer while a deactivation waits, and returns what is kept."""
        opened.service.answer = Service.refuse
        self.assertEqual(opened.client.deactivate().code, "no_answer")
        request = opened.client.offline_request("personal").request or ""
        payload = request.split(".")[1]
        nonce = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["nonce"]
        self.assertTrue(opened.client.accept_offline(SIGNER.sign_token(nonce=nonce, **claims)))
        return opened.read_kept()

    def test_an_accepted_answer_ends_the_deactivation_of_its_activation(self) -> None:
        opened = Opened().activate()
        self.assertIsNone(self.accept(opened)["release"])
        opened.service.answer = lambda path, body: validated()
        self.assertTrue(opened.client.check())
        self.assertEqual(opened.service.requests[-1][0], "/api/v1/licenses/validate")
        self.assertTrue(opened.client.state.may_run)

    def test_an_accepted_answer_keeps_the_deactivation_of_another_activation(self) -> None:
        opened = Opened().activate()
        self.assertEqual(self.accept(opened, activation_id="another")["release"]["activation_id"], ACTIVATION_ID)
        opened.service.answer = lambda path, body: answer_json({"success": True})
        self.assertEqual(opened.client.check().code, "not_activated")
        self.assertTrue(opened.client.state.may_run)
        self.assertIsNone(opened.read_kept()["release"])


class PurchaseTest(unittest.TestCase):
    def test_waits_over_failures_and_activates(self) -> None:
        opened, pauses = Opened(), list[float]()
        cancel = mock.Mock(is_set=lambda: False, wait=pauses.append)
        pending = answer_json({"status": "pending"})
        done = answer_json({"status": "completed", "licenses": [{"license_key": KEY}]})
        answers = iter([pending, answer_page(), done])
        opened.service.answer = lambda path, body: activated() if path.endswith("/activate") else next(answers)
        self.assertTrue(opened.client.after_purchase("txn 1", cancel=cancel))
        self.assertEqual(opened.service.requests[0][0], "/api/v1/licenses/check/txn%201")
        self.assertEqual(pauses, [2.0, 2.6])

    def test_ends_with_a_refusal_at_the_end_of_its_time_and_when_cancelled(self) -> None:
        opened, cancelled = Opened(), threading.Event()
        opened.service.answer = lambda path, body: answer_problem(404, "transaction_not_found")
        self.assertEqual(opened.client.after_purchase("txn_1").code, "transaction_not_found")
        opened.service.answer = lambda path, body: answer_json({"status": "completed", "licenses": []})
        self.assertEqual(opened.client.after_purchase("txn_1").code, "key_not_shown")
        opened.service.answer = lambda path, body: answer_json({"status": "pending"})
        self.assertEqual(opened.client.after_purchase("txn_1", timeout=0).code, "purchase_pending")
        cancelled.set()
        self.assertEqual(opened.client.after_purchase("txn_1", cancel=cancelled).code, "aborted")


class BackgroundTest(unittest.TestCase):
    def setUp(self) -> None:
        self.now_ms, self.network, self.triggers = 0, "home", list[str]()
        self.result = Result(True)
        self.is_unread = False
        self.background = Background(
            self.answer, lambda: None, lambda: self.is_unread, lambda: self.now_ms, lambda: self.network
        )
        patched = mock.patch("random.uniform", return_value=1.0)
        patched.start()
        self.addCleanup(patched.stop)

    def answer(self, trigger: str) -> Result:
        self.triggers.append(trigger)
        return self.result

    def passed(self, minutes: int) -> list[str]:
        """Returns the triggers of some minutes."""
        self.triggers.clear()
        for _ in range(minutes):
            self.now_ms += 60_000
            self.background.tick()
        return list(self.triggers)

    def test_checks_at_the_start_and_daily(self) -> None:
        self.background.begin()
        self.assertEqual(self.triggers, ["startup"])
        self.assertEqual(self.passed(1439), [])
        self.assertEqual(self.passed(1), ["scheduled"])

    def test_asks_again_after_1_5_15_and_60_minutes_without_an_answer(self) -> None:
        self.result = Result(False, "no_answer", "dns")
        self.background.begin()
        for minutes in (1, 5, 15, 60, 60):
            self.assertEqual(self.passed(minutes - 1), [])
            self.assertEqual(self.passed(1), ["scheduled"])

    def test_checks_as_soon_as_after_no_answer_while_the_license_cannot_be_read(self) -> None:
        self.is_unread, self.result = True, Result(False, "folder_unreadable")
        self.background.begin()
        self.assertEqual(self.passed(1), ["scheduled"])
        self.result = Result(True)  # A trial runs, and a license may be in the file.
        self.assertEqual(self.passed(5), ["scheduled"])
        self.is_unread = False
        self.assertEqual(self.passed(15), ["scheduled"])
        self.assertEqual(self.passed(1439), [])

    def test_waits_as_long_as_the_service_asks(self) -> None:
        self.result = Result(False, "no_answer", "busy", 1200)
        self.background.begin()
        self.assertEqual(self.passed(19), [])
        self.assertEqual(self.passed(1), ["scheduled"])

    def test_checks_after_sleep_and_with_another_network(self) -> None:
        self.background.begin()
        self.now_ms += DAY_MS // 4
        self.assertEqual(self.passed(1), ["wake"])
        self.now_ms -= DAY_MS // 4
        self.assertEqual(self.passed(1), ["wake"])
        self.network = "train"
        self.assertEqual(self.passed(1), [])
        self.result = Result(False, "no_answer", "dns")
        self.background.check("manual")
        self.network = "office"
        self.assertEqual(self.passed(1)[0], "reconnect")

    def test_checks_soon_after_a_call_without_an_answer(self) -> None:
        self.background.begin()
        self.background.notice(Result(False, "no_answer", "dns"))
        self.assertEqual(self.passed(1), ["scheduled"])
        self.assertEqual(self.passed(600), [])

    def test_checks_in_a_thread_that_close_ends(self) -> None:
        opened, asked = Opened().activate(), threading.Event()

        def answer(path: str, body: Any) -> Received:
            asked.set()
            return validated()

        opened.service.answer = answer
        opened.client.keep_checking()
        opened.client.keep_checking()
        self.assertTrue(asked.wait(60))
        asked.clear()
        opened.client.notice_focus()
        self.assertTrue(asked.wait(60))
        opened.client.notice_focus()
        opened.client.close()
        thread = opened.client._background._thread
        assert thread is not None
        thread.join(60)
        self.assertFalse(thread.is_alive())
        triggers = [body["trigger"] for _, body in opened.service.requests]
        self.assertEqual(triggers, ["startup", "foreground"])


if __name__ == "__main__":
    unittest.main()
