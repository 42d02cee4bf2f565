package dev.latchkey;

import static dev.latchkey.Rules.*;
import static dev.latchkey.Suite.*;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.latchkey.Latchkey.*;
import java.nio.file.Files;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** What a program sees of a client, with a service that answers as scripted. */
final class ClientTest {
    private static final long DAY_MS = 86_400_000;

    static void addTo(Suite suite) {
        suite.test("activates, and starts again from what is kept without a request", () -> {
            World world = new World();
            world.openActivated().close();
            Latchkey again = world.open();
            equal(again.state().kind(), Kind.LICENSED);
            equal(List.of(again.has("gpu"), again.has("other"), again.state().isAnswered()), List.of(true, false, false));
            equal(world.requests, List.of());
        });
        suite.test("ends with the entitlement, and runs again after an answer", () -> {
            World world = new World();
            Latchkey client = world.openActivated();
            world.nowMs += 15 * DAY_MS;
            equal(List.of(client.state().kind(), client.state().reason()), List.of(Kind.ENDED, "entitlement_expired"));
            world.nowMs -= 15 * DAY_MS;
            world.script = (path, body) -> World.validated();
            equal(client.check(), Result.OK);
            equal(client.state().mayRun(), true);
        });
        suite.test("a refusal lasts over a restart, and ends with a positive answer", () -> {
            World world = new World();
            Latchkey client = world.openActivated();
            world.script = (path, body) -> World.problem(403, "license_revoked");
            equal(client.check().code(), "license_revoked");
            Latchkey again = world.open();
            equal(List.of(again.state().kind(), again.state().reason(), again.has("gpu")), List.of(Kind.REFUSED, "license_revoked", false));
            world.script = (path, body) -> World.validated();
            equal(again.check(), Result.OK);
            equal(again.state().kind(), Kind.LICENSED);
        });
        suite.test("a trial that was not answered is started by the next check", () -> {
            World world = new World();
            equal(world.open().startTrial().cause(), Cause.CONNECTION);
            Latchkey again = world.open();
            isTrue(again.explain().contains("trial to be started: yes"), again.explain());
            world.script = (path, body) -> World.json(200, fields("activation_id", World.ACTIVATION, "license_key", World.KEY, "status", "active",
                "entitlement", World.token("a trial")));
            equal(again.check(), Result.OK);
            equal(again.state().kind(), Kind.TRIAL);
        });
        suite.test("an accepted answer ends the deactivation of its own activation, and of no other", () -> {
            for (boolean isSame : List.of(true, false)) {
                World world = new World();
                world.openActivated();
                Map<String, Object> kept = world.kept(), vector = World.vector("the nonce of the open request");
                String id = isSame ? claim(vector, "activation_id") : World.ACTIVATION + "0";
                kept.putAll(fields("activation_id", id, "request", fields("nonce", vector.get("nonce"), "created_at", "2027-01-15T08:00:00Z"),
                    "release", fields("key", World.KEY, "activation_id", id, "machine_id", vector.get("machine_id"))));
                Files.writeString(world.folder.resolve("license.json"), Json.write(kept));
                equal(world.open().acceptOffline(text(vector, "token")), Result.OK);
                equal(text(world.kept().get("release"), "activation_id"), isSame ? null : id);
            }
        });
        suite.test("calls run one after the other, while any thread reads the state", ClientTest::callTogether);
        suite.test("listeners hear of changes, and may throw and call", () -> {
            World world = new World();
            Latchkey client = world.open();
            List<Kind> heard = new CopyOnWriteArrayList<>();
            client.onChange(state -> {
                throw new IllegalStateException("a listener of the program");
            });
            Runnable end = client.onChange(state -> heard.add(client.check().ok() ? state.kind() : Kind.NONE));
            world.script = (path, body) -> path.endsWith("/validate") ? World.validated() : World.activated();
            client.activate(World.KEY);
            client.check();
            equal(heard, List.of(Kind.LICENSED));
            equal(world.problems, List.of("listener"));
            end.run();
            world.nowMs += 15 * DAY_MS;
            client.acceptOffline("");
            equal(heard.size(), 1);
        });
        suite.test("an interrupted call changes nothing, and the next one writes the file", () -> {
            World world = new World();
            Latchkey client = world.openActivated();
            world.script = (path, body) -> {
                throw new InterruptedException();
            };
            equal(client.check().cause(), Cause.CONNECTION);
            isTrue(Thread.currentThread().isInterrupted(), "the interruption was lost");
            world.script = (path, body) -> World.problem(403, "license_paused");
            client.check();
            isTrue(Thread.interrupted(), "the interruption was lost");
            equal(text(world.kept().get("refused"), "reason"), "license_paused");
        });
        suite.test("a purchase is activated with its key, and is pending without an answer", () -> {
            World world = new World();
            Latchkey client = world.open();
            equal(client.afterPurchase("txn", Duration.ZERO).cause(), Cause.CONNECTION);
            world.script = (path, body) -> World.json(200, fields("status", "pending"));
            equal(client.afterPurchase("txn", Duration.ZERO).code(), "purchase_pending");
            world.script = (path, body) -> World.json(200, fields("status", "completed", "licenses", List.of()));
            equal(client.afterPurchase("txn", Duration.ofHours(1)).code(), "key_not_shown");
            world.script = (path, body) -> path.endsWith("/check/a%2Fb") || path.endsWith("/check/a/b")
                ? World.json(200, fields("status", "completed", "licenses", List.of(fields("license_key", World.KEY)))) : World.activated();
            equal(client.afterPurchase("a/b", Duration.ofHours(1)), Result.OK);
            equal(client.state().mayRun(), true);
        });
        suite.test("interrupting the wait for a purchase ends it", () -> {
            World world = new World();
            world.script = (path, body) -> World.json(200, fields("status", "pending"));
            Thread.currentThread().interrupt();
            equal(world.open().afterPurchase("txn", Duration.ofHours(1)).code(), "aborted");
            isTrue(Thread.interrupted(), "the interruption was lost");
        });
        suite.test("the explanation contains no secret", () -> {
            World world = new World();
            String text = world.openActivated().explain();
            for (String secret : List.of(World.KEY, World.KEY.substring(3), World.token("an entitlement"), text(World.vector("an entitlement"), "machine_id"))) {
                isTrue(!text.contains(secret), "contains " + secret);
            }
            isTrue(text.startsWith("state: licensed\n") && text.contains("key: …GMAD0\n"), text);
        });
        suite.test("wrong options are all named at once", () -> {
            try {
                Latchkey.open(new Options().service("ftp://x").publicKeys("{}"));
                throw new AssertionError("was opened");
            } catch (IllegalArgumentException error) {
                for (String name : List.of("service", "issuer", "products", "publicKeys", "folder", "appVersion")) {
                    isTrue(error.getMessage().contains(name + " must"), error.getMessage());
                }
            }
        });
        suite.test("checks follow each other after a day, or 1, 5, 15 and 60 minutes without an answer", () -> {
            long minuteMs = 60_000;
            List<Long> waits = List.of(0, 1, 2, 3, 4, 5).stream().map(failures -> Latchkey.waitMs(failures, 0, 0.5) / minuteMs).toList();
            equal(waits, List.of(1_440L, 1L, 5L, 15L, 60L, 60L));
            equal(Latchkey.waitMs(1, 10 * minuteMs, 0), 9 * minuteMs);
            equal(Latchkey.waitMs(0, 0, 1), 1_584 * minuteMs);
        });
        suite.test("a check is due after sleep, by time, and with another network after a failure", ClientTest::findTriggers);
        suite.test("checking in the background begins at once, and ends with close", () -> {
            World world = new World();
            world.openActivated().close();
            Latchkey client = world.open();
            CountDownLatch asked = new CountDownLatch(1);
            world.script = (path, body) -> {
                if ("startup".equals(body.get("trigger"))) asked.countDown();
                return World.validated();
            };
            client.keepChecking();
            isTrue(asked.await(30, TimeUnit.SECONDS), "no check at the start");
            client.close();
        });
    }

    private static String claim(Map<String, Object> vector, String name) {
        return text(Json.parse(new String(Base64.getUrlDecoder().decode(text(vector, "token").split("\\.")[1]), UTF_8)), name);
    }

    private static void callTogether() throws Exception {
        World world = new World();
        Latchkey client = world.openActivated();
        AtomicInteger running = new AtomicInteger(), most = new AtomicInteger();
        world.script = (path, body) -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            equal(CompletableFuture.supplyAsync(client::state).get(30, TimeUnit.SECONDS).kind(), Kind.LICENSED);
            running.decrementAndGet();
            return World.validated();
        };
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<Result>> results = threads.invokeAll(Collections.nCopies(40, client::check));
        threads.shutdown();
        for (Future<Result> each : results) equal(each.get(), Result.OK);
        equal(List.of(most.get(), world.requests.size()), List.of(1, 40));
    }

    private static void findTriggers() throws Exception {
        World world = new World();
        Latchkey client = world.openActivated();
        Latchkey.Background background = client.new Background();
        long minuteMs = 60_000, nowMs = world.nowMs;
        background.findTrigger(nowMs, "train");
        world.script = (path, body) -> World.validated();
        background.checkFor(Trigger.STARTUP);
        equal(background.findTrigger(nowMs += minuteMs, "train"), null);
        equal(background.findTrigger(nowMs += minuteMs, "office"), null);
        equal(background.findTrigger(nowMs += 6 * minuteMs, "office"), Trigger.WAKE);
        equal(background.findTrigger(nowMs -= 60 * minuteMs, "office"), Trigger.WAKE);
        equal(background.findTrigger(nowMs += minuteMs, "office"), null);
        background.noticeFailure(new Result(false, "no_answer", Cause.DNS, Duration.ZERO, null, null, null, List.of(), null));
        equal(background.findTrigger(nowMs += minuteMs, "home"), Trigger.RECONNECT);
        equal(background.findTrigger(nowMs += minuteMs, "home"), Trigger.SCHEDULED);
    }
}
