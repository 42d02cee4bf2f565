package dev.latchkey;

import static dev.latchkey.Rules.*;
import static dev.latchkey.Suite.*;

import dev.latchkey.Latchkey.*;
import java.nio.file.Files;
import java.util.*;

/** A kept file that cannot be read at first, and what the run changes until it can. */
final class LateFileTest {
    private static final Map<String, Object> MACHINE = fields("machine_id", "m"), RANDOM = fields("machine_id", "generated-u");
    private static final Map<String, Object> LICENSE = fields("key", "LK-RUN", "activation_id", "b", "entitlement", "run.e.e");
    private static final Map<String, Object> RUN = with(Kept.NOTHING, "machine", MACHINE);
    private static final Map<String, Object> LICENSED_RUN = with(RUN, LICENSE);
    private static final Map<String, Object> FILE = Kept.read(fields("key", "LK-FILE", "activation_id", "a", "entitlement", "file.e.e",
        "refused", null, "request", null, "trial_wanted", false, "clock", clock(5, 9), "machine", MACHINE, "install_id", "i", "sharing", true,
        "release", fields("key", "LK-OLD", "activation_id", "old", "machine_id", "m"), "last_answer_at", "2027-01-15T08:00:00Z", "seats", 1));
    private static final Map<String, Object> WITHOUT_LICENSE = with(FILE, "key", null, "activation_id", null, "entitlement", null);

    static void addTo(Suite suite) {
        suite.test("a run that changed nothing leaves the file as it is", () -> {
            equal(Kept.joinRun(FILE, Kept.NOTHING, false), FILE);
            equal(Kept.joinRun(FILE, RUN, false), FILE);
        });
        suite.test("everything of the run is kept beside an empty file", () -> {
            for (boolean hasOwnLicense : List.of(true, false)) equal(Kept.joinRun(Kept.read(Kept.NOTHING), FILE, hasOwnLicense), without(FILE, "seats"));
        });
        suite.test("a trial does not replace a license, and is kept if there is none", () -> {
            equal(Kept.joinRun(FILE, LICENSED_RUN, false), FILE);
            equal(Kept.joinRun(WITHOUT_LICENSE, LICENSED_RUN, false), with(FILE, LICENSE));
        });
        suite.test("an activated license replaces that of the file", () -> {
            Map<String, Object> refused = fields("refused", fields("reason", "license_revoked"));
            equal(Kept.joinRun(with(FILE, refused), LICENSED_RUN, true), with(FILE, LICENSE));
            equal(Kept.joinRun(FILE, with(LICENSED_RUN, refused), true), with(with(FILE, LICENSE), refused));
        });
        suite.test("a license that was removed by the run stays removed", () ->
            equal(Kept.joinRun(FILE, RUN, true), with(with(FILE, Kept.NO_LICENSE), "release", FILE.get("release"))));
        suite.test("the answer to a machine without a connection keeps the key of its activation", () -> {
            Map<String, Object> run = with(RUN, "activation_id", "a", "entitlement", "run.e.e");
            equal(Kept.joinRun(FILE, run, true).get("key"), "LK-FILE");
            equal(Kept.joinRun(FILE, with(run, "activation_id", "b"), true).get("key"), null);
        });
        suite.test("a machine waits for its release unless it was activated again", () -> {
            Object release = fields("key", "LK-RUN", "activation_id", "b", "machine_id", "m");
            for (boolean hasOwnLicense : List.of(true, false)) {
                equal(Kept.joinRun(FILE, with(LICENSED_RUN, "release", release), hasOwnLicense).get("release"), release);
            }
            equal(Kept.joinRun(FILE, with(LICENSED_RUN, "activation_id", "old"), true).get("release"), null);
        });
        suite.test("a request of the run replaces that of the file", () -> {
            Map<String, Object> file = with(FILE, "request", fields("nonce", "file")), run = with(RUN, "request", fields("nonce", "run"));
            equal(Kept.joinRun(file, run, false).get("request"), fields("nonce", "run"));
            equal(Kept.joinRun(file, RUN, false).get("request"), fields("nonce", "file"));
        });
        suite.test("a trial replaces an older copy of itself", () -> {
            Map<String, Object> run = with(RUN, "key", "LK-RUN", "activation_id", "a", "entitlement", "run.e.e");
            Map<String, Object> file = with(FILE, "refused", fields("reason", "trial_expired"));
            equal(Kept.joinRun(file, run, false), with(FILE, "key", "LK-RUN", "entitlement", "run.e.e"));
        });
        suite.test("a trial that is wanted is kept unless the file has a license", () -> {
            Map<String, Object> run = with(RUN, "trial_wanted", true);
            equal(Kept.joinRun(with(FILE, "key", null), run, false).get("trial_wanted"), false);
            equal(Kept.joinRun(FILE, run, false).get("trial_wanted"), false);
            equal(Kept.joinRun(WITHOUT_LICENSE, run, false).get("trial_wanted"), true);
            equal(Kept.joinRun(with(WITHOUT_LICENSE, "trial_wanted", true), RUN, false).get("trial_wanted"), true);
        });
        suite.test("the latest time never decreases when a file is read late", () -> {
            equal(Kept.joinRun(FILE, with(RUN, "clock", clock(7, 0)), false).get("clock"), clock(5, 9));
            equal(Kept.joinRun(FILE, with(RUN, "clock", clock(7, 8)), false).get("clock"), clock(7, 9));
            equal(Kept.joinRun(FILE, with(RUN, "clock", clock(7, 10)), false).get("clock"), clock(7, 10));
        });
        suite.test("the last answer and consent follow the run, and the installation the file", () -> {
            Map<String, Object> run = fields("sharing", false, "install_id", "new", "last_answer_at", "2027-01-16T08:00:00Z");
            equal(Kept.joinRun(FILE, with(RUN, run), false), with(with(FILE, run), "install_id", "i"));
            equal(Kept.joinRun(with(FILE, "install_id", null), with(RUN, run), false).get("install_id"), "new");
        });
        suite.test("a random identity of the machine counts only with its license", () -> {
            Map<String, Object> random = fields("machine", RANDOM), other = fields("machine_id", "n");
            equal(Kept.joinRun(FILE, with(LICENSED_RUN, random), false).get("machine"), MACHINE);
            equal(Kept.joinRun(FILE, with(LICENSED_RUN, random), true).get("machine"), RANDOM);
            equal(Kept.joinRun(with(FILE, random), RUN, false).get("machine"), RANDOM);
            equal(Kept.joinRun(with(FILE, "machine", null), with(RUN, random), false).get("machine"), RANDOM);
            equal(Kept.joinRun(FILE, with(RUN, "machine", other), false).get("machine"), other);
        });
        suite.test("fetched keys are those of the license that remains", () -> {
            List<Map<String, Object>> keys = readKeys(World.vector("an entitlement").get("public_keys"));
            Object old = List.of(with(keys.get(0), "kid", "old")), fetched = List.of(with(keys.get(0), "kid", "new"));
            for (boolean hasOwnLicense : List.of(true, false)) {
                Object expected = hasOwnLicense ? fetched : old;
                equal(Kept.joinRun(with(FILE, "keys", old), with(RUN, "keys", fetched), hasOwnLicense).get("keys"), expected);
                equal(Kept.joinRun(FILE, with(RUN, "keys", fetched), hasOwnLicense).get("keys"), fetched);
                equal(Kept.joinRun(with(FILE, "keys", old), RUN, hasOwnLicense).get("keys"), old);
            }
        });
        suite.test("a file that cannot be read is not replaced, and is read at the next call", LateFileTest::keepUnreadable);
        suite.test("the file is read before a write that comes later than the start of its call", LateFileTest::readBeforeWrite);
        suite.test("a trial that starts while the file cannot be read does not replace a license", LateFileTest::keepLicense);
        suite.test("what was joined is written, even if the call changes nothing", () -> {
            World world = new World();
            world.openActivated();
            Suite.Body restore = world.makeUnreadable();
            Latchkey client = world.open();
            world.script = (path, body) -> World.json(200, fields("activation_id", "another", "entitlement", World.token("an entitlement")));
            equal(client.activate(World.KEY), Result.OK);
            restore.run();
            equal(client.acceptOffline("").code(), "entitlement_malformed");
            equal(world.kept().get("activation_id"), "another");
        });
        suite.test("a machine whose identity could not be read either keeps that of the license", () -> {
            World world = new World();
            world.openActivated();
            Suite.Body restore = world.makeUnreadable();
            Latchkey client = Latchkey.open(FilesTest.reading(world, () -> null));
            restore.run();
            equal(client.offlineRequest("studio", null).ok(), true);
            equal(client.state().kind(), Kind.LICENSED);
            equal(text(world.kept().get("machine"), "machine_id"), text(World.vector("an entitlement"), "machine_id"));
        });
        suite.test("the next check comes as soon as after no answer while the file cannot be read", LateFileTest::checkSoon);
    }

    private static void keepUnreadable() throws Exception {
        World world = new World();
        world.openActivated();
        Suite.Body restore = world.makeUnreadable();
        Latchkey client = world.open();
        equal(client.offlineRequest("studio", null).ok(), true);
        for (Result each : List.of(client.check(), client.machines(), client.moveHere("any"), client.deactivate())) {
            equal(each.code(), "folder_unreadable");
        }
        equal(client.state().reason(), "not_activated");
        equal(new TreeSet<>(world.problems), new TreeSet<>(List.of("folder_unreadable", "folder_unwritable")));
        restore.run();
        world.script = (path, body) -> World.validated();
        equal(client.check(), Result.OK);
        equal(client.state().kind(), Kind.LICENSED);
        isTrue(text(world.kept(), "key") != null && world.kept().get("request") != null, "a change was lost");
    }

    private static void readBeforeWrite() throws Exception {
        World world = new World();
        world.openActivated();
        Files.writeString(world.folder.resolve("license.json"), Json.write(with(world.kept(), "theme", "dark")));
        Suite.Body restore = world.makeUnreadable();
        Latchkey client = world.open();
        world.script = (path, body) -> {
            restore.run();
            return World.activated();
        };
        equal(client.activate(World.KEY), Result.OK);
        equal(List.of(text(world.kept(), "theme"), text(world.kept(), "entitlement")), List.of("dark", World.token("an entitlement")));
    }

    private static void keepLicense() throws Exception {
        World world = new World();
        world.openActivated();
        Map<String, Object> before = world.kept();
        Suite.Body restore = world.makeUnreadable();
        Latchkey client = world.open();
        world.script = (path, body) -> World.json(200, fields("activation_id", "trial", "license_key", "LK-TRIAL", "entitlement", World.token("a trial")));
        equal(client.startTrial(), Result.OK);
        equal(client.state().kind(), Kind.TRIAL);
        restore.run();
        equal(client.acceptOffline("").code(), "entitlement_malformed");
        equal(client.state().kind(), Kind.LICENSED);
        for (String name : Kept.NO_LICENSE.keySet()) equal(world.kept().get(name), before.getOrDefault(name, Kept.NO_LICENSE.get(name)));
    }

    private static void checkSoon() throws Exception {
        World world = new World();
        world.openActivated();
        Suite.Body restore = world.makeUnreadable();
        Latchkey.Background background = world.open().new Background();
        long minuteMs = 60_000, nowMs = world.nowMs;
        background.findTrigger(nowMs, null);
        background.checkFor(Trigger.STARTUP);
        equal(background.findTrigger(nowMs += 2 * minuteMs, null), Trigger.SCHEDULED);
        background.checkFor(Trigger.SCHEDULED);
        equal(background.findTrigger(nowMs += 4 * minuteMs, null), null);
        equal(background.findTrigger(nowMs += 2 * minuteMs, null), Trigger.SCHEDULED);
        restore.run();
        world.script = (path, body) -> World.validated();
        background.checkFor(Trigger.SCHEDULED);
        for (int passed = 0; passed < 20; passed++) equal(background.findTrigger(nowMs += 4 * minuteMs, null), null);
    }

    private static Map<String, Object> clock(long offsetMs, long latestMs) {
        return new Clock(offsetMs, latestMs).toFields();
    }

    private static Map<String, Object> with(Map<String, Object> kept, Object... pairs) {
        return with(kept, fields(pairs));
    }

    private static Map<String, Object> with(Map<String, Object> kept, Map<String, Object> changes) {
        Map<String, Object> changed = new LinkedHashMap<>(kept);
        changed.putAll(changes);
        return changed;
    }

    private static Map<String, Object> without(Map<String, Object> kept, String name) {
        Map<String, Object> changed = new LinkedHashMap<>(kept);
        changed.remove(name);
        return changed;
    }
}
