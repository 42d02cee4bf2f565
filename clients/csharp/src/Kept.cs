using System;
using System.Collections.Generic;
using System.Linq;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>The content of license.json, and how it is joined with what a run changed before it could be read.</summary>
    internal static class Kept
    {
        internal static readonly Fields Nothing = Json.Of("version", 1);

        /// <summary>What is kept of a license, and removed when it is deactivated.</summary>
        internal static readonly Fields NoLicense = Json.Of("key", null, "activation_id", null, "entitlement", null, "refused", null, "release", null,
            "request", null, "trial_wanted", false);

        /// <summary>Returns the content of a file; keys, a machine and a deactivation of another shape count as absent.</summary>
        internal static Fields Read(Fields file)
        {
            object release = Json.Member(file, "release");
            bool isRelease = new[] { "key", "activation_id", "machine_id" }.All(each => Json.Text(release, each) != null);
            return With(file, Json.Of("version", 1, "keys", Tokens.ReadKeys(Json.Member(file, "keys")).ToList<object>(),
                "machine", MachineReader.ReadFingerprint(Json.Member(file, "machine")), "release", isRelease ? release : null));
        }

        /// <summary>Returns a copy with other values.</summary>
        internal static Fields With(Fields kept, Fields changes)
        {
            Fields changed = new Fields(kept);
            foreach (KeyValuePair<string, object> each in changes) changed[each.Key] = each.Value;
            return changed;
        }

        /// <summary>Whether there is a key or an entitlement.</summary>
        internal static bool IsActivated(Fields kept)
        {
            return Json.Text(kept, "key") != null || Json.Text(kept, "entitlement") != null;
        }

        /// <summary>Returns the deactivation that is still to be sent after an activation: not that of this one.</summary>
        internal static object ReleaseAfter(Fields kept, string activationId)
        {
            object release = Json.Member(kept, "release");
            return Json.Text(release, "activation_id") == activationId ? null : release;
        }

        /// <summary>Returns the new reading of the machine, else the last good one, else null. A random identity stays while a license uses it.</summary>
        internal static Fields ChooseMachine(Fields kept, Fields reading)
        {
            Fields last = Json.Member(kept, "machine") as Fields;
            return reading == null || (IsGenerated(last) && IsActivated(kept)) ? last : reading;
        }

        private static bool IsGenerated(object machine)
        {
            return Json.Text(machine, "machine_id")?.StartsWith("generated-", StringComparison.Ordinal) == true;
        }

        /// <summary>
        /// Returns the content of a file that could not be read at first, with what the run changed until it could. A trial of the run does not
        /// replace a license.
        /// </summary>
        /// <param name="file">What <see cref="Read"/> returns.</param>
        /// <param name="run">What the run knows.</param>
        /// <param name="hasOwnLicense">Whether the run activated a license, apart from a trial, or removed it again.</param>
        internal static Fields JoinRun(Fields file, Fields run, bool hasOwnLicense)
        {
            bool isTrialKept = !IsActivated(file) || Json.Text(run, "activation_id") == Json.Text(file, "activation_id");
            bool isReplaced = hasOwnLicense || (IsActivated(run) && isTrialKept);
            return With(With(file, isReplaced ? ReplaceLicense(file, run) : KeepLicense(file, run)), Json.Of(
                "release", Json.Member(run, "release") ?? ReleaseAfter(file, Json.Text(run, "activation_id")),
                "clock", JoinClocks(Clock.Of(file), Clock.Of(run)).ToFields(),
                "install_id", Json.Text(file, "install_id") ?? Json.Text(run, "install_id"),
                "sharing", Json.Member(run, "sharing") ?? Json.Member(file, "sharing"),
                "last_answer_at", Json.Member(run, "last_answer_at") ?? Json.Member(file, "last_answer_at")));
        }

        private static Fields ReplaceLicense(Fields file, Fields run)
        {
            bool isSame = Json.Text(run, "entitlement") != null && Json.Text(run, "activation_id") == Json.Text(file, "activation_id");
            Fields license = NoLicense.ToDictionary(each => each.Key, each => Json.Member(run, each.Key) ?? each.Value);
            // The answer to a machine without a connection has no key.
            if (isSame && Json.Text(run, "key") == null) license["key"] = Json.Member(file, "key");
            license["keys"] = FirstKeys(run, file);
            license["machine"] = Json.Member(run, "machine") ?? Json.Member(file, "machine");
            return license;
        }

        private static Fields KeepLicense(Fields file, Fields run)
        {
            Fields machine = Json.Member(run, "machine") as Fields;
            // A system that cannot read the file may not have read its identity either.
            Fields reading = IsGenerated(machine) ? null : machine;
            bool isTrialWanted = Json.IsTrue(file, "trial_wanted") || (Json.IsTrue(run, "trial_wanted") && !IsActivated(file));
            return Json.Of("keys", FirstKeys(file, run), "machine", ChooseMachine(file, reading) ?? machine,
                "request", Json.Member(run, "request") ?? Json.Member(file, "request"), "trial_wanted", isTrialWanted);
        }

        private static Clock JoinClocks(Clock file, Clock run)
        {
            return new Clock((run.LatestMs > 0 ? run : file).OffsetMs, Math.Max(file.LatestMs, run.LatestMs));
        }

        private static List<object> FirstKeys(Fields one, Fields other)
        {
            List<Fields> keys = Tokens.ReadKeys(Json.Member(one, "keys"));
            return (keys.Count > 0 ? keys : Tokens.ReadKeys(Json.Member(other, "keys"))).ToList<object>();
        }
    }
}
