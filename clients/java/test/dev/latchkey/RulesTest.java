package dev.latchkey;

import static dev.latchkey.Rules.*;
import static dev.latchkey.Suite.*;

import dev.latchkey.Latchkey.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** The vectors of the conformance run, JSON, and answers. */
final class RulesTest {
    static void addTo(Suite suite) {
        suite.test("tokens have their verdicts", () -> {
            for (Map<String, Object> each : World.vectors("tokens")) {
                Trust trust = new Trust(readKeys(each.get("public_keys")), text(each, "issuer"), texts(each.get("products")), text(each, "machine_id"));
                String verdict = verifyToken(text(each, "token"), trust, integer(each, "now_ms"), text(each, "nonce"));
                equal(each.get("name") + ": " + verdict, each.get("name") + ": " + each.get("verdict"));
            }
        });
        suite.test("typed keys have their readings", () -> {
            for (Map<String, Object> each : World.vectors("keys")) {
                KeyReading read = readKey(text(each, "text"));
                equal(read.verdict(), each.get("verdict"));
                if (each.get("key") != null) equal(read.key(), each.get("key"));
            }
        });
        suite.test("clocks have their times", () -> World.vectors("clocks").forEach(RulesTest::playClock));
        suite.test("machine ids are read from what systems print", () -> {
            for (Map<String, Object> each : World.vectors("fingerprints")) {
                String text = text(each, "text");
                String read = switch (text(each, "source")) {
                    case "machine-id" -> Device.readMachineIdFile(text);
                    case "reg.exe" -> Device.readRegistryOutput(text);
                    default -> Device.readIoregOutput(text);
                };
                equal(read, each.get("machine_id"));
            }
        });
        suite.test("verifying an entitlement takes less than 10 ms", RulesTest::verifyOften);
        suite.test("JSON is written as it was read", () -> {
            for (String text : List.of("{}", "[]", "{\"a\":[1,-2.5,true,false,null,\"x\\\"\\\\\\u000a\"]}", "[[],{}]", "\"\\ud83d\\ude00é\"", "1.0E22")) {
                equal(Json.write(Json.parse(text)), text);
            }
        });
        suite.test("what is no JSON is refused", () -> {
            List<String> texts = List.of("", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "+1", "nul", "'a'", "\"\\x\"", "\"\n\"", "[1] 2", "\"\\u00g0\"", "\uFEFF1",
                "\"a", "[1 2]", "{\"a\" 1}", "-", "1e", "\"\\u12\"", "[".repeat(100_000));
            for (String text : texts) equal(Json.parse(text), null);
        });
        suite.test("a time that the service asks to wait is limited, and must be seconds", () -> {
            Map<String, Long> expected = Map.of("120", 120_000L, "999999999", 86_400_000L, "-1", 0L, "Fri, 31 Dec 2027 23:59:59 GMT", 0L, "1e3", 0L);
            expected.forEach((header, ms) -> equal(Answer.of(new Reply(503, Map.of("retry-after", header), new byte[0])).retryAfterMs(), ms));
        });
        suite.test("a refusal needs a code, and the type of a problem or its status", () -> {
            byte[] body = "{\"code\":\"license_revoked\",\"status\":403}".getBytes(StandardCharsets.UTF_8);
            byte[] other = "{\"code\":\"license_revoked\",\"status\":200}".getBytes(StandardCharsets.UTF_8);
            equal(Answer.of(new Reply(403, Map.of(), body)).code(), "license_revoked");
            equal(Answer.of(new Reply(404, Map.of(), body)).cause(), Cause.PORTAL);
            equal(Answer.of(new Reply(403, Map.of("content-type", "application/problem+json; charset=utf-8"), other)).code(), "license_revoked");
            equal(Answer.of(new Reply(403, Map.of("content-type", "application/json"), other)).cause(), Cause.PORTAL);
        });
    }

    private static void playClock(Map<String, Object> vector) {
        Clock clock = new Clock(0, 0);
        Iterator<?> expected = ((List<?>) vector.get("expected")).iterator();
        for (Object step : (List<?>) vector.get("steps")) {
            long deviceMs = integer(step, "device_ms");
            if (integer(step, "service_ms") != null) clock = clock.learn(deviceMs, integer(step, "service_ms"));
            Object reading = expected.next();
            equal(clock.now(deviceMs), integer(reading, "now_ms"));
            equal(clock.wentBack(deviceMs), member(reading, "clock_went_back"));
        }
    }

    private static void verifyOften() {
        Map<String, Object> each = World.vector("an entitlement");
        Trust trust = new Trust(readKeys(each.get("public_keys")), text(each, "issuer"), texts(each.get("products")), text(each, "machine_id"));
        double ms = Speed.bestMs(50, () -> equal(readToken(text(each, "token"), trust).verdict(), "ok"));
        isTrue(ms < 10, "verifying takes " + ms + " ms");
    }
}
