package dev.latchkey;

import static dev.latchkey.Rules.*;
import static dev.latchkey.Suite.*;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.latchkey.Latchkey.*;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.*;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLHandshakeException;

/** 10,000 failures of the network: nothing is thrown, no state changes, nobody is locked out. */
final class FaultsTest {
    private static final int FAULTS = 10_000;

    private static final List<World.Script> SCRIPTS = List.of(
        (path, body) -> { throw new ConnectException("Connection refused"); },
        (path, body) -> { throw new IOException("closed", new UnknownHostException("license.example.com")); },
        (path, body) -> { throw new SSLHandshakeException("PKIX path building failed"); },
        (path, body) -> { throw new TimeoutException(); },
        (path, body) -> { throw new IllegalStateException((String) null); },
        (path, body) -> null,
        (path, body) -> World.page(200),
        (path, body) -> World.page(302),
        (path, body) -> World.page(403),
        (path, body) -> World.page(404),
        (path, body) -> World.page(407),
        (path, body) -> World.page(502),
        (path, body) -> raw(200, ""),
        (path, body) -> raw(204, ""),
        (path, body) -> raw(200, "{\"valid\":true,\"entitlem"),
        (path, body) -> raw(200, "[{}]"),
        (path, body) -> raw(200, "null"),
        (path, body) -> raw(200, "[".repeat(1_000)),
        (path, body) -> raw(200, " ".repeat(1_100_000)),
        (path, body) -> World.json(200, fields("valid", true)),
        (path, body) -> World.json(200, granted("a.b.c")),
        (path, body) -> World.json(200, granted(World.token("an unknown key"))),
        (path, body) -> World.json(200, granted(World.token("a changed bit of the signature"))),
        (path, body) -> World.json(200, granted(World.token("another product"))),
        (path, body) -> World.json(200, granted(World.token("an end in 1970"))),
        (path, body) -> World.json(200, fields("valid", false, "reason", null)),
        (path, body) -> raw(403, "{\"error\":\"blocked by policy\"}"),
        (path, body) -> raw(403, "{\"code\":\"license_revoked\",\"status\":200}"),
        (path, body) -> World.problem(429, "rate_limited"),
        (path, body) -> World.problem(500, "internal_error"),
        (path, body) -> World.problem(503, "overloaded"));

    static void addTo(Suite suite) {
        suite.test("10,000 faults change no state", () -> {
            Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
            Thread.setDefaultUncaughtExceptionHandler((thread, error) -> thrown.add(error));
            World world = new World();
            Latchkey client = world.openActivated();
            Map<String, Object> before = world.kept();
            List<Supplier<Result>> calls = List.of(client::check, () -> client.activate(World.KEY), client::machines, () -> client.moveHere("any"));
            for (int fault = 0; fault < FAULTS; fault++) {
                world.script = SCRIPTS.get(fault % SCRIPTS.size());
                Result result = calls.get(fault % calls.size()).get();
                isTrue("no_answer".equals(result.code()), "fault " + fault % SCRIPTS.size() + ": " + result);
            }
            equal(client.state().kind(), Kind.LICENSED);
            equal(world.kept(), before);
            world.script = (path, body) -> World.validated();
            equal(client.check(), Result.OK);
            equal(List.copyOf(thrown), List.of());
            equal(world.problems, List.of());
        });
    }

    private static Reply raw(int status, String body) {
        return new Reply(status, Map.of("content-type", "application/json"), body.getBytes(UTF_8));
    }

    private static Map<String, Object> granted(String token) {
        return fields("valid", true, "activation_id", World.ACTIVATION, "entitlement", token);
    }
}
