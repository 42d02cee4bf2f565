package dev.latchkey;

import dev.latchkey.Latchkey.*;
import java.io.IOException;
import java.net.URI;
import java.nio.file.*;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.regex.Matcher;

import static dev.latchkey.Rules.*;
import static java.nio.charset.StandardCharsets.UTF_8;

/** What a client does: it keeps a license, derives the state from it, and asks the service. One thread at a time calls it; any reads the state. */
final class Session {
    /** What is known at one time: the content of license.json, the verified claims of its entitlement, and whether the service answered. */
    private record Snapshot(Map<String, Object> kept, Map<String, Object> claims, boolean isAnswered) {}

    private static final String LICENSES = "/api/v1/licenses/", FILE = "license.json";
    private static final long DAY_MS = 86_400_000;
    private static final Set<String> LIMITS = Set.of("activation_limit_reached", "move_limit_reached");

    private final Options options;
    private final List<Map<String, Object>> compiledKeys;
    private final Deque<Problem> problems = new ConcurrentLinkedDeque<>();
    private volatile Snapshot now = new Snapshot(Kept.NOTHING, null, false);
    private volatile String lastSilence;
    private volatile boolean machineIsOld;
    /** Whether there may be a license that could not be read yet. */
    private volatile boolean isUnread = true;
    /** Whether this run activated a license, apart from a trial, or removed it again, before the file could be read. */
    private boolean hasOwnLicense;
    /** The key that was last refused because no machine is free; the program shows its machines. */
    private String wantedKey;

    /** Reads what is kept, and the identity of the machine unless one is kept: that is read again before the first call. */
    Session(Options options) {
        this.options = options;
        compiledKeys = readKeys(options.publicKeys);
        load();
        machineIsOld = true;
        if (options.machine != null || machine() == null) readMachine();
    }

    boolean mustReadMachine() {
        return machineIsOld;
    }

    boolean isUnread() {
        return isUnread;
    }

    State state() {
        Snapshot at = now;
        long deviceMs = options.now.getAsLong(), nowMs = Clock.of(at.kept).now(deviceMs);
        String refused = text(member(at.kept, "refused"), "reason");
        if (!Kept.isActivated(at.kept)) return createState(at, deviceMs, Kind.NONE, "not_activated", null);
        if (refused != null) return createState(at, deviceMs, Kind.REFUSED, refused, null);
        String problem = at.claims == null ? "early" : findTimeProblem(at.claims, nowMs);
        if ("early".equals(problem)) return createState(at, deviceMs, Kind.NONE, "entitlement_invalid", null);
        Long expires = integer(at.claims, "license_expires_at");
        boolean mayRun = problem == null, isTrial = Boolean.TRUE.equals(at.claims.get("trial"));
        Kind kind = !mayRun ? Kind.ENDED : isTrial ? Kind.TRIAL : Kind.LICENSED;
        String reason = mayRun ? null : expires != null && expires * 1000 <= nowMs ? "license_expired" : "entitlement_expired";
        return createState(at, deviceMs, kind, reason, at.claims);
    }

    /** @param reason null: the program may run @param claims those of an entitlement that is or was in force, or null */
    private State createState(Snapshot at, long deviceMs, Kind kind, String reason, Map<String, Object> claims) {
        Clock clock = Clock.of(at.kept);
        Long endMs = claims == null ? null : Long.valueOf(integer(claims, "exp") * 1000);
        Long daysLeft = endMs == null ? null : Long.valueOf(Math.max(0, -Math.floorDiv(clock.now(deviceMs) - endMs, DAY_MS)));
        List<String> features = reason == null ? texts(claims.get("features")) : List.of();
        return new State(reason == null, kind, reason, text(claims, "tier"), features, endMs == null ? null : Instant.ofEpochMilli(endMs),
            daysLeft, at.isAnswered, parseInstant(text(at.kept, "last_answer_at")), clock.wentBack(deviceMs));
    }

    // The calls of a program.

    Result activate(String typed) {
        KeyReading reading = readKey(typed);
        if (reading.verdict().equals("mistyped") || reading.key().isEmpty()) return Result.refused("key_mistyped");
        Result result = acceptActivation(ask(LICENSES + "activate", identified("license_key", reading.key())), reading.key());
        if (result.ok()) wantedKey = null;
        else if (LIMITS.contains(result.code())) wantedKey = reading.key();
        return result;
    }

    Result startTrial() {
        if (state().kind() == Kind.LICENSED) return Result.refused("already_licensed");
        Result result = acceptActivation(ask("/api/v1/trial/start", identified()), null);
        boolean isWanted = "no_answer".equals(result.code()) && text(now.kept, "key") == null;
        if (isWanted != Boolean.TRUE.equals(now.kept.get("trial_wanted"))) change("trial_wanted", isWanted);
        return result;
    }

    /** Returns a body with the identity of the machine and of the installation. */
    private Map<String, Object> identified(Object... pairs) {
        Map<String, Object> body = fields(pairs);
        body.put("machine_fingerprint", describedMachine());
        if (text(now.kept, "install_id") != null) body.put("install_id", text(now.kept, "install_id"));
        return body;
    }

    /** @param key null: the answer contains it */
    private Result acceptActivation(Answer answer, String key) {
        String id = text(answer.body(), "activation_id"), token = text(answer.body(), "entitlement");
        if (answer.isSuccess() && key == null && id != null && member(answer.body(), "entitlement") == null) {
            noteAnswer(null);
            return Result.refused("expired".equals(text(answer.body(), "status")) ? "trial_expired" : "trial_unavailable");
        }
        if (!answer.isSuccess()) return endWithout(answer);
        String kept = key == null ? text(answer.body(), "license_key") : key;
        if (id == null || token == null || kept == null) return endWithout(Answer.OTHER_SHAPE);
        return grant(answer, token, "key", kept, "activation_id", id, "request", null, "trial_wanted", false,
            "release", Kept.releaseAfter(now.kept, id));
    }

    Result check(Trigger trigger) {
        if (member(now.kept, "release") != null) {
            Result released = release();
            if (!released.ok()) return released;
        }
        String key = text(now.kept, "key"), id = text(now.kept, "activation_id");
        if (key == null || id == null) return Boolean.TRUE.equals(now.kept.get("trial_wanted")) ? startTrial() : refuseUnactivated();
        Map<String, Object> body = fields("license_key", key, "activation_id", id, "machine_id", machineId(),
            "trigger", trigger.name().toLowerCase(Locale.ROOT));
        if (text(now.kept, "install_id") != null) body.put("install_id", text(now.kept, "install_id"));
        if (now.kept.get("sharing") instanceof Boolean sharing) body.put("usage_sharing", sharing);
        Answer answer = ask(LICENSES + "validate", body);
        if (answer.isAboutLicense()) return refuseLicense(answer, answer.code());
        if (!answer.isSuccess()) return endWithout(answer);
        String token = text(answer.body(), "entitlement"), reason = text(answer.body(), "reason");
        Object valid = member(answer.body(), "valid");
        if (Boolean.TRUE.equals(valid) && token != null) return grant(answer, token);
        if (Boolean.FALSE.equals(valid) && reason != null) return refuseLicense(answer, reason);
        return endWithout(Answer.OTHER_SHAPE);
    }

    private Result refuseLicense(Answer answer, String reason) {
        noteAnswer(null);
        String at = formatTime(answer.dateMs() == null ? nowMs() : answer.dateMs());
        change("refused", fields("reason", reason, "at", at), "last_answer_at", at);
        return Result.refused(reason);
    }

    /** Refuses a call that needs a license: there is none, or it could not be read. */
    private Result refuseUnactivated() {
        return Result.refused(isUnread ? "folder_unreadable" : "not_activated");
    }

    Result deactivate() {
        String key = text(now.kept, "key"), id = text(now.kept, "activation_id");
        if (key == null || id == null) return refuseUnactivated();
        change("release", fields("key", key, "activation_id", id, "machine_id", machineId()));
        return release();
    }

    private Result release() {
        Object waiting = member(now.kept, "release");
        String id = text(waiting, "activation_id");
        Answer answer = ask(LICENSES + "deactivate",
            fields("license_key", text(waiting, "key"), "activation_id", id, "machine_id", text(waiting, "machine_id")));
        if (answer.isDone() || answer.isAboutLicense()) {
            noteAnswer(null);
            if (!Objects.equals(id, text(now.kept, "activation_id"))) change("release", null);
            else change(Kept.NO_LICENSE);
            return Result.OK;
        }
        if (answer.code() != null) change("release", null);
        return endWithout(answer.isSuccess() ? Answer.OTHER_SHAPE : answer);
    }

    Result machines() {
        List<Map<String, Object>> listed = new ArrayList<>();
        Result result = listMachines(listed);
        List<Machine> machines = listed.stream().map(this::describeMachine).toList();
        return result.ok() ? new Result(true, null, null, Duration.ZERO, null, null, null, machines, null) : result;
    }

    private Result listMachines(List<Map<String, Object>> listed) {
        String key = wantedKey == null ? text(now.kept, "key") : wantedKey;
        if (key == null) return refuseUnactivated();
        Answer answer = ask(LICENSES + Device.escape(key) + "/activations", null);
        if (!answer.isSuccess()) return endWithout(answer);
        if (!(answer.body() instanceof List<?> list)) return endWithout(Answer.OTHER_SHAPE);
        for (Object item : list) {
            boolean fits = text(item, "activation_id") != null && text(item, "machine_id") != null && member(item, "is_active") instanceof Boolean;
            if (!fits) return endWithout(Answer.OTHER_SHAPE);
            listed.add(object(item));
        }
        noteAnswer(null);
        return Result.OK;
    }

    private Machine describeMachine(Map<String, Object> item) {
        String id = text(item, "activation_id");
        boolean isThis = id.equals(text(now.kept, "activation_id")) || machineId().equals(text(item, "machine_id"));
        return new Machine(id, Boolean.TRUE.equals(item.get("is_active")), isThis, text(item, "os_version"), text(item, "app_version"),
            text(item, "activated_at"), text(item, "last_validated_at"));
    }

    Result moveHere(String activationId) {
        String key = wantedKey == null ? text(now.kept, "key") : wantedKey;
        List<Map<String, Object>> listed = new ArrayList<>();
        Result result = listMachines(listed);
        if (!result.ok()) return result;
        Map<String, Object> other = listed.stream().filter(each -> each.get("activation_id").equals(activationId)).findFirst().orElse(null);
        if (other == null) return Result.refused("activation_not_found");
        if (Boolean.TRUE.equals(other.get("is_active"))) {
            Answer answer = ask(LICENSES + "deactivate",
                fields("license_key", key, "activation_id", activationId, "machine_id", other.get("machine_id")));
            if (!answer.isDone()) return endWithout(answer.isSuccess() ? Answer.OTHER_SHAPE : answer);
        }
        return activate(key);
    }

    Result activatePurchase(String transactionId) {
        Answer answer = ask(LICENSES + "check/" + Device.escape(transactionId), null);
        String status = text(answer.body(), "status");
        if (!answer.isSuccess()) return endWithout(answer);
        if (status == null) return endWithout(Answer.OTHER_SHAPE);
        noteAnswer(null);
        List<Object> bought = new ArrayList<>(List.of(answer.body()));
        if (member(answer.body(), "licenses") instanceof List<?> more) bought.addAll(more);
        String key = bought.stream().map(each -> text(each, "license_key")).filter(Objects::nonNull).findFirst().orElse(null);
        return key != null ? activate(key) : Result.refused(status.equals("pending") ? "purchase_pending" : "key_not_shown");
    }

    Result offlineRequest(String product, String name) {
        String open = text(member(now.kept, "request"), "nonce"), nonce = open == null ? createNonce() : open;
        Object content = fields("product", product, "machine_fingerprint", describedMachine(), "nonce", nonce, "name", name);
        String request = "LKR1." + encode(Json.write(content).getBytes(UTF_8));
        if (open == null) change("request", fields("nonce", nonce, "created_at", formatTime(nowMs())));
        String checked = request + "." + hash(request).substring(0, 10);
        return new Result(true, null, null, Duration.ZERO, null, null, null, List.of(), checked);
    }

    Result acceptOffline(String text) {
        Matcher found = TOKEN.matcher(text.replaceAll("[\\s\\p{Z}>\\u200B\\uFEFF]", ""));
        if (!found.find()) return Result.refused("entitlement_malformed");
        Reading reading = verify(found.group(), readKeys(now.kept.get("keys")));
        Map<String, Object> claims = reading.claims();
        String verdict = claims == null ? reading.verdict() : findTimeProblem(claims, nowMs());
        String nonce = text(member(now.kept, "request"), "nonce");
        if (verdict == null && (nonce == null || !nonce.equals(text(claims, "nonce")))) verdict = "nonce";
        if (verdict != null) return Result.refused("entitlement_" + verdict);
        String id = text(claims, "activation_id");
        Object key = Objects.equals(id, text(now.kept, "activation_id")) ? now.kept.get("key") : null;
        change("entitlement", found.group(), "activation_id", id, "key", key, "refused", null, "request", null, "trial_wanted", false,
            "release", Kept.releaseAfter(now.kept, id));
        return Result.OK;
    }

    String explain() {
        State state = state();
        Map<String, Object> kept = now.kept;
        String key = text(kept, "key"), refused = text(member(kept, "refused"), "reason");
        Map<String, Object> lines = fields(
            "state", state.kind().name().toLowerCase(Locale.ROOT) + (state.reason() == null ? "" : ", " + state.reason()),
            "until", state.until(), "tier", state.tier(), "features", String.join(", ", state.features()),
            "key", key == null ? null : "…" + key.substring(Math.max(0, key.length() - 5)),
            "machine", hash(machineId()).substring(0, 8) + " (SHA-256)",
            "last answer", state.lastAnswerAt() == null ? "never" : state.lastAnswerAt(),
            "last question", lastSilence == null ? "answered, or none" : lastSilence,
            "refused", refused == null ? null : refused + " at " + text(member(kept, "refused"), "at"),
            "to be freed", member(kept, "release") == null ? null : "yes",
            "trial to be started", Boolean.TRUE.equals(kept.get("trial_wanted")) ? "yes" : null,
            "request without a connection", text(member(kept, "request"), "created_at"),
            "time", formatTime(nowMs()),
            "device clock", formatTime(options.now.getAsLong()) + (state.clockWentBack() ? " (was set back)" : ""),
            "service", options.service, "program", options.appVersion,
            "client", "latchkey for Java " + Latchkey.VERSION + ", " + System.getProperty("os.name") + ", Java " + Runtime.version());
        List<String> texts = new ArrayList<>();
        lines.forEach((name, value) -> { if (value != null && !value.equals("")) texts.add(name + ": " + value + "\n"); });
        problems.forEach(each -> texts.add("problem: " + each.code() + ": " + each.message() + "\n"));
        return String.join("", texts);
    }

    // Answers of the service.

    /** Keeps a positive answer: without a verified entitlement, it is no answer. */
    private Result grant(Answer answer, String token, Object... changes) {
        List<Map<String, Object>> keys = readKeys(now.kept.get("keys"));
        Reading reading = verify(token, keys);
        if (reading.verdict().equals("unknown_key") && Device.isTrustworthy(options.service)) {
            Answer published = ask("/.well-known/jwks.json", null);
            keys = readKeys(member(published.body(), "keys")).stream().limit(20).toList();
            reading = verify(token, keys);
        }
        Map<String, Object> claims = reading.claims();
        if (claims == null) return endWithout(Answer.silent(Cause.PORTAL, "the entitlement is not accepted: " + reading.verdict()));
        long deviceMs = options.now.getAsLong(), serviceMs = Clock.serviceTime(answer.dateMs(), integer(claims, "iat") * 1000);
        Clock clock = Clock.of(now.kept).learn(deviceMs, serviceMs);
        // With the new time, so that a machine whose clock stands in 1970 can be activated.
        String problem = findTimeProblem(claims, clock.now(deviceMs));
        if (problem != null) return endWithout(Answer.silent(Cause.PORTAL, "the entitlement is not accepted: " + problem));
        noteAnswer(null);
        Map<String, Object> all = fields(changes);
        all.putAll(fields("clock", clock.toFields(), "keys", keys, "entitlement", token,
            "refused", null, "last_answer_at", formatTime(serviceMs)));
        change(all);
        return Result.OK;
    }

    private Result endWithout(Answer answer) {
        if (answer.code() == null) {
            noteAnswer(answer.cause().name().toLowerCase(Locale.ROOT) + ": " + answer.detail());
            return new Result(false, "no_answer", answer.cause(), Duration.ofMillis(answer.retryAfterMs()), null, null, null, List.of(), null);
        }
        noteAnswer(null);
        return new Result(false, answer.code(), null, Duration.ZERO, integer(answer.body(), "max"), integer(answer.body(), "current"),
            text(answer.body(), "available_at"), List.of(), null);
    }

    private void noteAnswer(String silence) {
        lastSilence = silence;
        now = new Snapshot(now.kept, now.claims, silence == null);
    }

    // What is kept.

    /** Reads what is kept unless it was read before, and joins what this run changed until then. */
    void load() {
        if (!isUnread) return;
        Device.removeOldTemporaries(options.folder);
        Optional<byte[]> bytes = attempt("folder_unreadable", () -> Device.readFile(options.folder.resolve(FILE)));
        if (bytes == null) return;
        Map<String, Object> read = bytes.isEmpty() ? Kept.NOTHING : object(Json.parse(new String(bytes.get(), UTF_8)));
        if (read == null) setAside();
        Map<String, Object> file = Kept.read(read == null ? Kept.NOTHING : read);
        boolean isChanged = now.kept != Kept.NOTHING;
        adopt(isChanged ? Kept.joinRun(file, now.kept, hasOwnLicense) : file);
        isUnread = false;
        if (isChanged) write();
    }

    private void setAside() {
        report(new Problem("file_damaged", "the kept state is damaged and was renamed"));
        attempt("folder_unwritable", () -> Files.move(options.folder.resolve(FILE), options.folder.resolve(FILE + ".damaged"),
            StandardCopyOption.REPLACE_EXISTING));
    }

    private void change(Object... pairs) {
        change(fields(pairs));
    }

    private void change(Map<String, Object> changes) {
        Map<String, Object> kept = new LinkedHashMap<>(now.kept);
        kept.putAll(changes);
        adopt(kept);
        if (isUnread) {
            boolean isTrial = Boolean.TRUE.equals(member(now.claims, "trial"));
            hasOwnLicense |= Kept.isActivated(kept) && !isTrial;
            load();
            if (!isUnread) return;
        }
        write();
    }

    private void write() {
        attempt("folder_unwritable", () -> {
            if (isUnread) throw new IOException(FILE + " is not replaced, because it was not read");
            return Device.replaceFile(options.folder.resolve(FILE), Json.write(now.kept) + "\n");
        });
    }

    /** Both at once, so that no state is derived from old and new values. The verdict about an entitlement is kept while it is the same. */
    private void adopt(Map<String, Object> kept) {
        boolean isVerified = List.of("entitlement", "machine", "keys").stream().allMatch(each -> Objects.equals(kept.get(each), now.kept.get(each)));
        String token = text(kept, "entitlement"), machineId = text(kept.get("machine"), "machine_id");
        Map<String, Object> claims = isVerified ? now.claims : token == null || machineId == null ? null
            : readToken(token, trust(readKeys(kept.get("keys")), machineId)).claims();
        now = new Snapshot(Collections.unmodifiableMap(kept), claims, now.isAnswered);
    }

    private <T> T attempt(String code, Callable<T> work) {
        try {
            return work.call();
        } catch (Exception error) {
            report(code, error);
            return null;
        }
    }

    void report(String code, Exception error) {
        report(new Problem(code, Device.describe(error)));
    }

    private void report(Problem problem) {
        problems.add(problem);
        if (problems.size() > 5) problems.poll();
        try {
            options.onProblem.accept(problem);
        } catch (RuntimeException ignored) {
            // The function of the program failed; a client throws nothing into it.
        }
    }

    // The machine, the time, and requests.

    private Map<String, Object> machine() {
        return object(now.kept.get("machine"));
    }

    private String machineId() {
        return text(now.kept.get("machine"), "machine_id");
    }

    private Map<String, Object> describedMachine() {
        Map<String, Object> described = new LinkedHashMap<>(machine());
        described.put("app_version", options.appVersion);
        if (options.osVersion != null) described.put("os_version", options.osVersion);
        return described;
    }

    /** Keeps the new reading, else the last good one, else a random identity, which stays while a license uses it. */
    void readMachine() {
        if (!machineIsOld) return;
        machineIsOld = false;
        Map<String, Object> reading = options.machine;
        if (reading == null) {
            reading = attempt("machine_unreadable", () -> Objects.requireNonNull(readFingerprint(options.machineReader.get()), "no identity"));
        }
        Map<String, Object> chosen = Kept.chooseMachine(now.kept, reading);
        if (chosen == null) chosen = fields("machine_id", "generated-" + UUID.randomUUID());
        if (!chosen.equals(machine())) change("machine", chosen);
    }

    private static String createNonce() {
        byte[] bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return encode(bytes);
    }

    private long nowMs() {
        return Clock.of(now.kept).now(options.now.getAsLong());
    }

    private Reading verify(String token, List<Map<String, Object>> keys) {
        return readToken(token, trust(keys, machineId()));
    }

    private Trust trust(List<Map<String, Object>> keys, String machineId) {
        List<Map<String, Object>> all = new ArrayList<>(compiledKeys);
        all.addAll(keys);
        return new Trust(all, options.issuer, options.products, machineId);
    }

    /** @param body null: GET */
    private Answer ask(String path, Map<String, Object> body) {
        try {
            return Answer.of(options.transport.send(URI.create(options.service + path), body == null ? null : Json.write(body), options.timeout));
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            return Answer.silent(Cause.CONNECTION, "interrupted");
        } catch (Exception error) {
            return Answer.silent(Device.findCause(error), Device.describe(error));
        }
    }
}
