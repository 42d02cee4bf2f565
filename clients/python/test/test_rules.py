"""The rules without a network: entitlements, keys, clocks, and what the systems print."""

from __future__ import annotations

import unittest
from datetime import datetime

from latchkey_client._answers import Failure, Received, classify
from latchkey_client._clock import Clock, choose_service_time, parse_date
from latchkey_client._ed25519 import is_signed
from latchkey_client._entitlement import Trust, read_public_keys, time_problem, verify
from latchkey_client._json import format_time, parse_json
from latchkey_client._license_key import read_key
from latchkey_client._machine import find_machine_id, read_machine

from .support import ISSUER, MACHINE_ID, NOW_MS, SIGNER, TOKEN, Signer, answer_page, answer_problem, read_vectors


class Ed25519Test(unittest.TestCase):
    # RFC 8032, section 7.1, tests 1 and 3.
    EXAMPLES = (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    )

    def test_verifies_the_examples_of_the_standard(self) -> None:
        for public_key, message, signature in self.EXAMPLES:
            key, text, signed = (bytes.fromhex(each) for each in (public_key, message, signature))
            self.assertTrue(is_signed(key, text, signed))
            self.assertFalse(is_signed(key, text + b"x", signed))

    def test_refuses_every_changed_bit(self) -> None:
        key, message, signature = (bytes.fromhex(each) for each in self.EXAMPLES[1])
        for bit in range(0, 512, 37):
            changed = bytearray(signature)
            changed[bit // 8] ^= 1 << bit % 8
            self.assertFalse(is_signed(key, message, bytes(changed)), bit)

    def test_refuses_lengths_that_do_not_fit(self) -> None:
        key, message, signature = (bytes.fromhex(each) for each in self.EXAMPLES[0])
        for odd_key, odd_signature in ((b"", signature), (key[:31], signature), (key, signature[:63]), (key, b"")):
            self.assertFalse(is_signed(odd_key, message, odd_signature))


class EntitlementTest(unittest.TestCase):
    TRUST = Trust([SIGNER.public_key], ISSUER, ["personal"], MACHINE_ID)

    def test_has_the_verdicts_of_the_vectors(self) -> None:
        vectors = read_vectors("tokens")
        self.assertGreater(len(vectors), 100)
        for vector in vectors:
            keys = read_public_keys(vector["public_keys"])
            trust = Trust(keys, vector["issuer"], vector["products"], vector["machine_id"])
            verdict, claims = verify(vector["token"], trust)
            if claims is not None:
                verdict = time_problem(claims, vector["now_ms"]) or verdict
                if verdict == "ok" and vector["nonce"] not in (None, claims.get("nonce")):
                    verdict = "nonce"
            self.assertEqual(verdict, vector["verdict"], vector["name"])

    def test_accepts_only_its_own_signer(self) -> None:
        forged = Signer("another one").sign_token(
            {"alg": "EdDSA", "kid": SIGNER.public_key["kid"], "typ": "entitlement+jwt"}
        )
        self.assertEqual(verify(TOKEN, self.TRUST)[0], "ok")
        self.assertEqual(verify(forged, self.TRUST)[0], "signature")

    def test_survives_any_text(self) -> None:
        for text in ("", ".", "..", "a.b.c", "[" * 100_000, TOKEN.replace(".", ".\ud800", 1), TOKEN[:-1], "é.é.é"):
            self.assertEqual(verify(text, self.TRUST), ("malformed", None))


class KeyTest(unittest.TestCase):
    def test_has_the_readings_of_the_vectors(self) -> None:
        for vector in read_vectors("keys"):
            key, verdict = read_key(vector["text"])
            self.assertEqual(verdict, vector["verdict"], vector["name"])
            if vector["key"] is not None:
                self.assertEqual(key, vector["key"], vector["name"])


class ClockTest(unittest.TestCase):
    def test_has_the_times_of_the_vectors(self) -> None:
        for vector in read_vectors("clocks"):
            clock = Clock()
            for step, expected in zip(vector["steps"], vector["expected"]):
                if step["service_ms"] is not None:
                    clock = clock.learn(step["device_ms"], step["service_ms"])
                reading = (expected["now_ms"], expected["clock_went_back"])
                self.assertEqual(clock.read(step["device_ms"]), reading, vector["name"])

    def test_believes_a_date_only_if_it_fits_the_entitlement(self) -> None:
        self.assertEqual(choose_service_time(NOW_MS + 60_000, NOW_MS), NOW_MS + 60_000)
        for date_ms in (None, NOW_MS - 1, NOW_MS + 66 * 60_000):
            self.assertEqual(choose_service_time(date_ms, NOW_MS), NOW_MS)

    def test_reads_and_formats_times(self) -> None:
        self.assertEqual(parse_date("Fri, 15 Jan 2027 08:00:00 GMT"), NOW_MS)
        for text in ("", "yesterday", "Fri, 99 Jan 2027 08:00:00 GMT"):
            self.assertIsNone(parse_date(text))
        self.assertEqual(format_time(NOW_MS + 7), "2027-01-15T08:00:00.007Z")
        for odd_ms in (-(10**20), 10**20):
            self.assertEqual(len(format_time(odd_ms)), len("2027-01-15T08:00:00.007Z"))
            datetime.strptime(format_time(odd_ms), "%Y-%m-%dT%H:%M:%S.%fZ")


class JsonTest(unittest.TestCase):
    def test_returns_none_for_what_is_not_json(self) -> None:
        for data in (b"", b"{", b"\xff{}", b"NaN", b"[-Infinity]", b"[" * 100_000, b"\xef\xbb\xbf{}"):
            self.assertIsNone(parse_json(data), data[:10])

    def test_reads_a_number_of_a_million_digits_at_once(self) -> None:
        self.assertEqual(parse_json(b"9" * 1_000_000), float("inf"))


class AnswerTest(unittest.TestCase):
    def fail_with(self, received: Received) -> Failure:
        with self.assertRaises(Failure) as raised:
            classify(received)
        return raised.exception

    def test_reads_a_refusal_with_its_numbers(self) -> None:
        failure = self.fail_with(answer_problem(409, "activation_limit_reached", max=3, current=3))
        result = failure.result
        self.assertEqual((result.code, result.max, result.current), ("activation_limit_reached", 3, 3))
        self.assertFalse(failure.is_about_license)
        self.assertTrue(self.fail_with(answer_problem(403, "license_revoked")).is_about_license)
        self.assertFalse(self.fail_with(answer_problem(404, "not_found")).is_about_license)

    def test_names_the_cause_of_everything_else(self) -> None:
        busy = Received(503, {"retry-after": "120"}, b"")
        self.assertEqual(self.fail_with(busy).result.retry_after, 120)
        causes = {429: "busy", 500: "busy", 407: "proxy", 200: "portal", 302: "portal", 403: "portal", 404: "portal"}
        for status, cause in causes.items():
            self.assertEqual(self.fail_with(answer_page(status)).result.cause, cause, status)

    def test_believes_a_long_wait_for_a_day_only(self) -> None:
        failure = self.fail_with(Received(429, {"retry-after": "999999999"}, b""))
        self.assertEqual(failure.result.retry_after, 86_400)
        odd = self.fail_with(Received(429, {"retry-after": "Fri, 31 Dec 2027 23:59:59 GMT"}, b""))
        self.assertEqual(odd.result.retry_after, 0)


class MachineTest(unittest.TestCase):
    HEX = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405"

    def printed(self, source: str, name: str) -> str:
        return next(each["text"] for each in read_vectors("fingerprints") if each["name"] == f"{source}: {name}")

    def test_has_the_readings_of_the_vectors(self) -> None:
        for vector in read_vectors("fingerprints"):
            self.assertEqual(find_machine_id(vector["source"], vector["text"]), vector["machine_id"], vector["name"])

    def test_reads_the_registry_of_windows_by_the_full_path_of_its_program(self) -> None:
        commands = []

        def run(*command: str) -> str:
            commands.append(command)
            return self.printed("reg.exe", "a value")

        self.assertEqual(read_machine("win32", run), {"machine_id": "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8"})
        self.assertEqual(len(commands), 1)
        self.assertRegex(commands[0][0], r"^[A-Z]:\\.*\\System32\\reg\.exe$")
        self.assertEqual(commands[0][-1], "/reg:64")
        self.assertIsNone(read_machine("win32", lambda *_: ""))

    def test_reads_the_hardware_of_macos(self) -> None:
        output = self.printed("ioreg", "a device")
        found = read_machine("darwin", lambda *command: output if command[0] == "/usr/sbin/ioreg" else "")
        self.assertEqual(found, {"machine_id": "E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B"})

    def test_reads_the_files_of_linux(self) -> None:
        board = "/sys/class/dmi/id/board_serial"
        cases = (
            ({"/etc/machine-id": f"{self.HEX}\n"}, {"machine_id": self.HEX}),
            ({"/etc/machine-id": "uninitialized\n", "/var/lib/dbus/machine-id": self.HEX}, {"machine_id": self.HEX}),
            (
                {"/etc/machine-id": self.HEX, board: "CN7016355A\n"},
                {"machine_id": self.HEX, "board_serial": "CN7016355A"},
            ),
            ({"/etc/machine-id": self.HEX, board: "Default string\n"}, {"machine_id": self.HEX}),
            ({board: "CN7016355A\n"}, None),
            ({}, None),
        )
        for files, expected in cases:
            self.assertEqual(read_machine("linux", read=lambda path, files=files: files.get(path, "")), expected)

    def test_reads_this_machine_without_an_exception(self) -> None:
        for system in ("win32", "darwin", "linux"):
            found = read_machine(system)
            self.assertTrue(found is None or found["machine_id"])


if __name__ == "__main__":
    unittest.main()
