"""What becomes of a file that is read late, and of what the run changed until then."""

from __future__ import annotations

import unittest
from typing import Any

from latchkey_client._kept import NO_LICENSE, join_run, read_kept

NOTHING = read_kept({})
MACHINE = {"machine_id": "m"}
RANDOM = {"machine_id": "generated-u"}
PUBLIC_KEY = {"kty": "OKP", "crv": "Ed25519", "x": "x", "kid": "old"}

FILE: dict[str, Any] = {
    **NOTHING,
    "key": "LK-FILE",
    "activation_id": "a",
    "entitlement": "file.e.e",
    "clock": {"offset_ms": 5, "latest_ms": 9},
    "machine": MACHINE,
    "install_id": "i",
    "sharing": True,
    "release": {"key": "LK-OLD", "activation_id": "old", "machine_id": "m"},
    "last_answer_at": "2027-01-15T08:00:00.000Z",
    "seats": 1,
}
WITHOUT_LICENSE = {**FILE, "key": None, "activation_id": None, "entitlement": None}
RUN = {**NOTHING, "machine": MACHINE}
LICENSE = {"key": "LK-RUN", "activation_id": "b", "entitlement": "run.e.e"}


class JoinRunTest(unittest.TestCase):
    def test_a_run_that_changed_nothing_leaves_the_file_as_it_is(self) -> None:
        self.assertEqual(join_run(FILE, NOTHING, False), FILE)
        self.assertEqual(join_run(FILE, RUN, False), FILE)

    def test_everything_of_the_run_is_kept_beside_an_empty_file(self) -> None:
        run = {name: value for name, value in FILE.items() if name != "seats"}
        for has_own_license in (True, False):
            self.assertEqual(join_run(NOTHING, run, has_own_license), run)

    def test_a_trial_does_not_replace_a_license_and_is_kept_if_there_is_none(self) -> None:
        self.assertEqual(join_run(FILE, {**RUN, **LICENSE}, False), FILE)
        self.assertEqual(join_run(WITHOUT_LICENSE, {**RUN, **LICENSE}, False), {**FILE, **LICENSE})

    def test_an_activated_license_replaces_that_of_the_file(self) -> None:
        refused = {"refused": {"reason": "license_revoked"}}
        self.assertEqual(join_run({**FILE, **refused}, {**RUN, **LICENSE}, True), {**FILE, **LICENSE})
        self.assertEqual(join_run(FILE, {**RUN, **LICENSE, **refused}, True), {**FILE, **LICENSE, **refused})

    def test_a_license_that_was_removed_by_the_run_stays_removed(self) -> None:
        joined = join_run(FILE, RUN, True)
        self.assertEqual(joined, {**FILE, **NO_LICENSE, "release": FILE["release"]})

    def test_the_answer_to_a_machine_without_a_connection_keeps_the_key_of_its_activation(self) -> None:
        run = {**RUN, "activation_id": "a", "entitlement": "run.e.e"}
        self.assertEqual(join_run(FILE, run, True)["key"], "LK-FILE")
        self.assertIsNone(join_run(FILE, {**run, "activation_id": "b"}, True)["key"])

    def test_a_machine_waits_for_its_release_unless_it_was_activated_again(self) -> None:
        release = {"key": "LK-RUN", "activation_id": "b", "machine_id": "m"}
        for has_own_license in (True, False):
            joined = join_run(FILE, {**RUN, **LICENSE, "release": release}, has_own_license)
            self.assertEqual(joined["release"], release)
        self.assertIsNone(join_run(FILE, {**RUN, **LICENSE, "activation_id": "old"}, True)["release"])

    def test_a_request_of_the_run_replaces_that_of_the_file(self) -> None:
        file = {**FILE, "request": {"nonce": "file"}}
        self.assertEqual(join_run(file, {**RUN, "request": {"nonce": "run"}}, False)["request"], {"nonce": "run"})
        self.assertEqual(join_run(file, RUN, False)["request"], {"nonce": "file"})

    def test_a_trial_replaces_an_older_copy_of_itself(self) -> None:
        file = {**FILE, "refused": {"reason": "trial_expired"}}
        run = {**RUN, **LICENSE, "activation_id": "a"}
        self.assertEqual(join_run(file, run, False), {**FILE, **LICENSE, "activation_id": "a"})

    def test_a_trial_that_is_wanted_is_kept_unless_the_file_has_a_license(self) -> None:
        run = {**RUN, "trial_wanted": True}
        self.assertIs(join_run(FILE, run, False)["trial_wanted"], False)
        self.assertIs(join_run({**FILE, "key": None}, run, False)["trial_wanted"], False)
        self.assertIs(join_run(WITHOUT_LICENSE, run, False)["trial_wanted"], True)
        self.assertIs(join_run({**WITHOUT_LICENSE, "trial_wanted": True}, RUN, False)["trial_wanted"], True)

    def test_the_latest_time_never_decreases(self) -> None:
        for latest_ms, expected in ((0, (5, 9)), (8, (7, 9)), (10, (7, 10))):
            clock = join_run(FILE, {**RUN, "clock": {"offset_ms": 7, "latest_ms": latest_ms}}, False)["clock"]
            self.assertEqual((clock["offset_ms"], clock["latest_ms"]), expected)

    def test_the_last_answer_and_consent_follow_the_run_and_the_installation_the_file(self) -> None:
        run = {"sharing": False, "install_id": "new", "last_answer_at": "2027-01-16T08:00:00.000Z"}
        self.assertEqual(join_run(FILE, {**RUN, **run}, False), {**FILE, **run, "install_id": "i"})
        self.assertEqual(join_run({**FILE, "install_id": None}, {**RUN, **run}, False)["install_id"], "new")

    def test_a_random_identity_of_the_machine_counts_only_with_its_license(self) -> None:
        run = {**RUN, **LICENSE, "machine": RANDOM}
        self.assertEqual(join_run(FILE, run, False)["machine"], MACHINE)
        self.assertEqual(join_run(FILE, run, True)["machine"], RANDOM)
        self.assertEqual(join_run({**FILE, "machine": RANDOM}, RUN, False)["machine"], RANDOM)
        self.assertEqual(join_run({**FILE, "machine": None}, {**RUN, "machine": RANDOM}, False)["machine"], RANDOM)
        self.assertEqual(join_run(FILE, {**RUN, "machine": {"machine_id": "n"}}, False)["machine"], {"machine_id": "n"})

    def test_fetched_keys_are_those_of_the_license_that_remains(self) -> None:
        old, fetched = [PUBLIC_KEY], [{**PUBLIC_KEY, "kid": "new"}]
        for has_own_license, expected in ((False, old), (True, fetched)):
            joined = join_run({**FILE, "keys": old}, {**RUN, "keys": fetched}, has_own_license)
            self.assertEqual(joined["keys"], expected)
            self.assertEqual(join_run(FILE, {**RUN, "keys": fetched}, has_own_license)["keys"], fetched)
            self.assertEqual(join_run({**FILE, "keys": old}, RUN, has_own_license)["keys"], old)


if __name__ == "__main__":
    unittest.main()
