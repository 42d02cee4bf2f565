package dev.latchkey;

import java.util.*;

import static dev.latchkey.Rules.*;

/** The content of license.json, and how it is joined with what a run changed before it could be read. */
final class Kept {
    private Kept() {}

    static final Map<String, Object> NOTHING = Collections.unmodifiableMap(fields("version", 1));

    /** What is kept of a license, and removed when it is deactivated. */
    static final Map<String, Object> NO_LICENSE = Collections.unmodifiableMap(fields("key", null, "activation_id", null, "entitlement", null,
        "refused", null, "release", null, "request", null, "trial_wanted", false));

    /** Returns the content of a file; keys, a machine and a deactivation of another shape count as absent. */
    static Map<String, Object> read(Map<String, Object> file) {
        Map<String, Object> kept = new LinkedHashMap<>(file);
        kept.putAll(fields("version", 1, "keys", readKeys(file.get("keys")), "machine", readFingerprint(file.get("machine")),
            "release", isRelease(file.get("release")) ? file.get("release") : null));
        return kept;
    }

    private static boolean isRelease(Object value) {
        return text(value, "key") != null && text(value, "activation_id") != null && text(value, "machine_id") != null;
    }

    /** Whether there is a key or an entitlement. */
    static boolean isActivated(Map<String, Object> kept) {
        return text(kept, "key") != null || text(kept, "entitlement") != null;
    }

    /** Returns the deactivation that is still to be sent after an activation: not that of this one. */
    static Object releaseAfter(Map<String, Object> kept, String activationId) {
        Object release = kept.get("release");
        return Objects.equals(text(release, "activation_id"), activationId) ? null : release;
    }

    /** Returns the new reading of the machine, else the last good one, else null. A random identity stays while a license uses it. */
    static Map<String, Object> chooseMachine(Map<String, Object> kept, Map<String, Object> reading) {
        Map<String, Object> last = object(kept.get("machine"));
        return reading == null || isGenerated(last) && isActivated(kept) ? last : reading;
    }

    private static boolean isGenerated(Map<String, Object> machine) {
        String id = text(machine, "machine_id");
        return id != null && id.startsWith("generated-");
    }

    /**
     * Returns the content of a file that could not be read at first, with what the run changed until it could. A trial of the run does not
     * replace a license.
     * @param hasOwnLicense whether the run activated a license, apart from a trial, or removed it again
     */
    static Map<String, Object> joinRun(Map<String, Object> file, Map<String, Object> run, boolean hasOwnLicense) {
        boolean isTrialKept = !isActivated(file) || Objects.equals(text(run, "activation_id"), text(file, "activation_id"));
        boolean isReplaced = hasOwnLicense || isActivated(run) && isTrialKept;
        Map<String, Object> joined = new LinkedHashMap<>(file);
        joined.putAll(isReplaced ? replaceLicense(file, run) : keepLicense(file, run));
        joined.putAll(fields(
            "release", first(run.get("release"), releaseAfter(file, text(run, "activation_id"))),
            "clock", joinClocks(Clock.of(file), Clock.of(run)),
            "install_id", first(text(file, "install_id"), text(run, "install_id")),
            "sharing", first(run.get("sharing"), file.get("sharing")),
            "last_answer_at", first(run.get("last_answer_at"), file.get("last_answer_at"))));
        return joined;
    }

    private static Map<String, Object> replaceLicense(Map<String, Object> file, Map<String, Object> run) {
        Map<String, Object> license = new LinkedHashMap<>(NO_LICENSE);
        license.replaceAll(run::getOrDefault);
        boolean isSame = text(run, "entitlement") != null && Objects.equals(text(run, "activation_id"), text(file, "activation_id"));
        // The answer to a machine without a connection has no key.
        if (isSame && text(run, "key") == null) license.put("key", file.get("key"));
        license.put("keys", firstKeys(run, file));
        license.put("machine", first(run.get("machine"), file.get("machine")));
        return license;
    }

    private static Map<String, Object> keepLicense(Map<String, Object> file, Map<String, Object> run) {
        Map<String, Object> machine = object(run.get("machine"));
        // A system that cannot read the file may not have read its identity either.
        Map<String, Object> reading = isGenerated(machine) ? null : machine;
        boolean isTrialWanted = Boolean.TRUE.equals(file.get("trial_wanted"))
            || Boolean.TRUE.equals(run.get("trial_wanted")) && !isActivated(file);
        return fields("keys", firstKeys(file, run), "machine", first(chooseMachine(file, reading), machine),
            "request", first(run.get("request"), file.get("request")), "trial_wanted", isTrialWanted);
    }

    private static Object joinClocks(Clock file, Clock run) {
        long offsetMs = (run.latestMs() > 0 ? run : file).offsetMs();
        return new Clock(offsetMs, Math.max(file.latestMs(), run.latestMs())).toFields();
    }

    private static List<Map<String, Object>> firstKeys(Map<String, Object> one, Map<String, Object> other) {
        List<Map<String, Object>> keys = readKeys(one.get("keys"));
        return keys.isEmpty() ? readKeys(other.get("keys")) : keys;
    }

    private static Object first(Object one, Object other) {
        return one == null ? other : one;
    }
}
