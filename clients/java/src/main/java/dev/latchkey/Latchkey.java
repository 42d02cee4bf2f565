package dev.latchkey;

import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.*;

import static dev.latchkey.Rules.*;

/**
 * The license of a program on this machine. {@link #state()} is ready from disk, needs no network and may be read by any thread. The other calls
 * wait for the service, one after the other, and report failures in their {@link Result}: call them on a thread of your own.
 */
public final class Latchkey implements AutoCloseable {
    public static final String VERSION = "1.0.0";

    public enum Kind { LICENSED, TRIAL, NONE, ENDED, REFUSED }

    /** Why the service did not answer. {@code PORTAL}: something else did, such as a login page. {@code BUSY}: 429 or 5xx. */
    public enum Cause { DNS, CONNECTION, TLS, PROXY, TIMEOUT, PORTAL, BUSY }

    public enum Trigger { STARTUP, SCHEDULED, FOREGROUND, WAKE, RECONNECT, MANUAL }

    /**
     * What the program may do, and why. {@code reason} is null while it may run; {@code tier}, {@code until} and {@code daysLeft} are null
     * without an entitlement, and {@code lastAnswerAt} before the first answer. If {@code clockWentBack}, ask the user; nothing is locked.
     * {@code isAnswered}: whether the last question since the start was answered.
     */
    public record State(boolean mayRun, Kind kind, String reason, String tier, List<String> features, Instant until, Long daysLeft,
        boolean isAnswered, Instant lastAnswerAt, boolean clockWentBack) {}

    /** A machine of the license. Versions are null if they are not known. */
    public record Machine(String activationId, boolean isActive, boolean isThis, String osVersion, String appVersion, String activatedAt,
        String lastValidatedAt) {}

    /**
     * The outcome of a call. If it is not {@code ok}, {@code code} is a code of the service, or of the client: {@code key_mistyped},
     * {@code not_activated}, {@code folder_unreadable}, {@code already_licensed}, {@code trial_expired}, {@code trial_unavailable},
     * {@code purchase_pending}, {@code key_not_shown}, {@code aborted}, {@code unexpected}, {@code entitlement_} and why an answer for use
     * without a connection is not accepted, or {@code no_answer}: nothing changed and {@code cause} is the reason. {@code max}, {@code current} and {@code availableAt} are the numbers of a limit, or null.
     */
    public record Result(boolean ok, String code, Cause cause, Duration retryAfter, Long max, Long current, String availableAt,
        List<Machine> machines, String request) {
        static final Result OK = new Result(true, null, null, Duration.ZERO, null, null, null, List.of(), null);

        static Result refused(String code) {
            return new Result(false, code, null, Duration.ZERO, null, null, null, List.of(), null);
        }
    }

    /** A failure that the client works around. The message contains no key. */
    public record Problem(String code, String message) {}

    /** An HTTP answer; names of headers are in small letters. */
    public record Reply(int status, Map<String, String> headers, byte[] body) {}

    /** Sends a request of JSON once, POST with a body or GET without one, follows no redirect, and returns or throws within the timeout. */
    @FunctionalInterface
    public interface Transport {
        Reply send(URI uri, String body, Duration timeout) throws Exception;
    }

    /** What a program passes to {@link #open}; {@code service} to {@code appVersion} are required. */
    public static final class Options {
        String service = "", issuer = "", appVersion = "", osVersion = System.getProperty("os.version");
        List<String> products = List.of();
        Object publicKeys;
        Path folder;
        Map<String, Object> machine;
        Supplier<Map<String, Object>> machineReader = Device::readMachine;
        Duration timeout = Duration.ofSeconds(10);
        Transport transport = Device.transport();
        Consumer<Problem> onProblem = problem -> {};
        LongSupplier now = System::currentTimeMillis;

        /** The address of the service. */
        public Options service(String url) { service = url.replaceAll("/+$", ""); return this; }
        /** The service's {@code LATCHKEY_PUBLIC_URL}, which its entitlements name. */
        public Options issuer(String text) { issuer = text; return this; }
        /** The ids of your products in the catalogue. */
        public Options products(String... ids) { products = List.of(ids); return this; }
        /** The document of the service's {@code /.well-known/jwks.json}, compiled into the program. */
        public Options publicKeys(String jwks) { publicKeys = member(Json.parse(jwks), "keys"); return this; }
        /** A folder of the program and this user, for {@code license.json}. */
        public Options folder(Path path) { folder = path; return this; }
        public Options appVersion(String version) { appVersion = version; return this; }
        public Options osVersion(String version) { osVersion = version; return this; }
        /** The identity of this machine, with a {@code machine_id}; default: that of the system. */
        public Options machine(Map<String, ?> fingerprint) { machine = readFingerprint(fingerprint); return this; }
        /** Reads the identity of this machine; null if that fails: the last good one counts. */
        public Options machine(Supplier<Map<String, Object>> reader) { machineReader = reader; return this; }
        /** The time of one request as a whole; default: ten seconds. */
        public Options timeout(Duration duration) { timeout = duration; return this; }
        /** Default: an {@link HttpClient} with the proxy of {@link ProxySelector#getDefault()}. */
        public Options transport(Transport sender) { transport = sender; return this; }
        /** Sends with a client of yours, which must not follow redirects. */
        public Options httpClient(HttpClient client) { return transport(Device.over(client)); }
        public Options onProblem(Consumer<Problem> listener) { onProblem = listener; return this; }
        /** The clock of the device, in milliseconds since 1970. */
        public Options clock(LongSupplier milliseconds) { now = milliseconds; return this; }

        private void check() {
            List<String> broken = new ArrayList<>();
            if (!Device.isWebAddress(service)) broken.add("service must be an http or https URL");
            if (issuer.isEmpty()) broken.add("issuer must be a text");
            if (products.isEmpty()) broken.add("products must list ids");
            if (!(publicKeys instanceof List<?> list) || readKeys(list).size() != list.size()) broken.add("publicKeys must list Ed25519 keys");
            if (folder == null) broken.add("folder must be a path");
            if (appVersion.isEmpty()) broken.add("appVersion must be a text");
            if (timeout.isNegative() || timeout.isZero()) broken.add("timeout must be positive");
            if (!broken.isEmpty()) throw new IllegalArgumentException("Latchkey.open: " + String.join("; ", broken));
        }
    }

    private static final long MINUTE_MS = 60_000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS;

    private final Options options;
    private final Session session;
    private final ReentrantLock calls = new ReentrantLock(true);
    private final List<Consumer<State>> listeners = new CopyOnWriteArrayList<>();
    private final Background background = new Background();
    private State shown;

    /**
     * Reads what is kept. It sends no request, so that a program starts at once.
     * @throws IllegalArgumentException if an option is wrong; nothing else of a client throws
     */
    public static Latchkey open(Options options) {
        options.check();
        return new Latchkey(options);
    }

    private Latchkey(Options options) {
        this.options = options;
        session = new Session(options);
        shown = session.state();
        if (session.mustReadMachine()) Device.daemon(() -> run(() -> Result.OK)).start();
    }

    public State state() {
        return session.state();
    }

    /** Whether the program may run, with this feature. */
    public boolean has(String feature) {
        return state().features.contains(feature);
    }

    /** Calls a function when the state changed, but not during {@link #open}. Running the result ends this. */
    public Runnable onChange(Consumer<State> listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Activates this machine with a key, as a person typed it. */
    public Result activate(String key) {
        return run(() -> session.activate(key == null ? "" : key));
    }

    /** Starts the trial of this machine. Without an answer, {@link #keepChecking} starts it later. */
    public Result startTrial() {
        return run(session::startTrial);
    }

    /** Asks the service whether this machine may run, because the user wants it. */
    public Result check() {
        return check(Trigger.MANUAL);
    }

    /** Asks the service whether this machine may run. */
    public Result check(Trigger trigger) {
        return run(() -> session.check(trigger));
    }

    /** Checks now and from now on: daily, after sleep, when the network returns. It does not keep the program running. */
    public void keepChecking() {
        background.start();
    }

    /** Call it when a window of the program comes to the front: a check follows, at most one a minute. It does not wait. */
    public void noticeFocus() {
        background.noticeFocus();
    }

    /** Lists the machines of the license, or of the key that was just refused because none is free. */
    public Result machines() {
        return run(session::machines);
    }

    /** Frees another machine of the license, and activates this one. */
    public Result moveHere(String activationId) {
        return run(() -> session.moveHere(activationId));
    }

    /** Frees this machine. Without an answer it continues to run, and the next check frees it. */
    public Result deactivate() {
        return run(session::deactivate);
    }

    /**
     * Waits for the license of a purchase, and activates it. The payment may be confirmed while the network is away. Interrupting the thread
     * ends the wait with {@code aborted}.
     */
    public Result afterPurchase(String transactionId, Duration timeout) {
        long endNs = System.nanoTime() + timeout.toNanos();
        for (double waitMs = 2_000;; waitMs = Math.min(15_000, waitMs * 1.3)) {
            Result result = run(() -> session.activatePurchase(transactionId));
            boolean isOpen = result.cause != null || "purchase_pending".equals(result.code);
            if (!isOpen || System.nanoTime() >= endNs) return result;
            try {
                Thread.sleep((long) waitMs);
            } catch (InterruptedException interruption) {
                Thread.currentThread().interrupt();
                return Result.refused("aborted");
            }
        }
    }

    /** Creates the text of a machine without a connection, for the page for buyers. @param name what the user calls the machine, or null */
    public Result offlineRequest(String product, String name) {
        return run(() -> session.offlineRequest(product, name));
    }

    /** Accepts the answer to the last request, with any text around it. */
    public Result acceptOffline(String text) {
        return run(() -> session.acceptOffline(text == null ? "" : text));
    }

    /** Describes the license for support, without key, token and machine id. */
    public String explain() {
        return session.explain();
    }

    /** Ends the checks, and waits for calls that run. */
    @Override
    public void close() {
        background.stop();
        listeners.clear();
        calls.lock();
        calls.unlock();
    }

    private Result run(Supplier<Result> work) {
        Result result;
        calls.lock();
        try {
            session.load();
            session.readMachine();
            result = work.get();
        } catch (RuntimeException error) {
            session.report("unexpected", error);
            result = Result.refused("unexpected");
        } finally {
            calls.unlock();
        }
        if (result.cause != null) background.noticeFailure(result);
        notifyListeners();
        return result;
    }

    private void notifyListeners() {
        State state = state();
        synchronized (listeners) {
            if (isSame(shown, state)) return;
            shown = state;
        }
        for (Consumer<State> listener : listeners) {
            try {
                listener.accept(state);
            } catch (RuntimeException error) {
                session.report("listener", error);
            }
        }
    }

    /** Whether two states look the same to a user: the time of the last answer alone is no change. */
    private static boolean isSame(State one, State other) {
        return hideAnswer(one).equals(hideAnswer(other));
    }

    private static State hideAnswer(State it) {
        return new State(it.mayRun, it.kind, it.reason, it.tier, it.features, it.until, it.daysLeft, false, null, it.clockWentBack);
    }

    /** Checks from time to time, on a thread that does not keep the program running. */
    final class Background {
        private ScheduledExecutorService timer;
        private static final long RUNNING = Long.MAX_VALUE;
        private long lastTickMs, checkInMs, focusedAtMs = Long.MIN_VALUE / 2;
        private int failures;
        private String network;

        synchronized void start() {
            if (timer != null) return;
            lastTickMs = options.now.getAsLong();
            network = Device.describeNetwork();
            timer = Executors.newSingleThreadScheduledExecutor(Device::daemon);
            timer.execute(() -> checkFor(Trigger.STARTUP));
            timer.scheduleWithFixedDelay(this::tick, MINUTE_MS, MINUTE_MS, TimeUnit.MILLISECONDS);
        }

        synchronized void stop() {
            if (timer != null) timer.shutdown();
            timer = null;
        }

        synchronized void noticeFocus() {
            long nowMs = options.now.getAsLong();
            if (timer == null || Math.abs(nowMs - focusedAtMs) < MINUTE_MS) return;
            focusedAtMs = nowMs;
            timer.execute(() -> checkFor(Trigger.FOREGROUND));
        }

        /** A call was not answered: what waits for the service, such as a trial, is sent soon, and not a day later. */
        synchronized void noticeFailure(Result result) {
            // A running check plans the next one.
            if (checkInMs == RUNNING) return;
            failures = Math.max(1, failures);
            checkInMs = Math.min(checkInMs, waitMs(failures, result.retryAfter.toMillis(), ThreadLocalRandom.current().nextDouble()));
        }

        void tick() {
            Trigger trigger = findTrigger(options.now.getAsLong(), Device.describeNetwork());
            notifyListeners();
            if (trigger != null) checkFor(trigger);
        }

        /** Returns why a check is due, or null. A clock that was set, forward or back, counts as waking up. */
        synchronized Trigger findTrigger(long nowMs, String newNetwork) {
            long passedMs = nowMs - lastTickMs;
            boolean isOther = failures > 0 && !Objects.equals(network, newNetwork);
            lastTickMs = nowMs;
            network = newNetwork;
            checkInMs -= Math.max(MINUTE_MS, passedMs);
            if (Math.abs(passedMs) > 5 * MINUTE_MS) return Trigger.WAKE;
            if (isOther) return Trigger.RECONNECT;
            return checkInMs <= 0 ? Trigger.SCHEDULED : null;
        }

        void checkFor(Trigger trigger) {
            synchronized (this) {
                checkInMs = RUNNING;
            }
            Result result = check(trigger);
            synchronized (this) {
                // While there may be a license that could not be read, the next check comes as soon as after no answer.
                failures = result.cause == null && !session.isUnread() ? 0 : failures + 1;
                checkInMs = waitMs(failures, result.retryAfter.toMillis(), ThreadLocalRandom.current().nextDouble());
            }
        }
    }

    /** Returns the time to the next check: a day; after failures 1, 5, 15, then 60 minutes. With jitter, so that machines do not ask together. */
    static long waitMs(int failures, long retryAfterMs, double random) {
        long[] retries = {DAY_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS};
        return (long) (Math.max(retryAfterMs, retries[Math.min(failures, 4)]) * (0.9 + 0.2 * random));
    }
}
