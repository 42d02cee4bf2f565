using System;
using System.Collections.Generic;
using System.Linq;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>A kept file that cannot be read at first, and what the run changes until it can.</summary>
    internal static class LateFileTests
    {
        private static readonly Fields Machine = Json.Of("machine_id", "m"), Random = Json.Of("machine_id", "generated-u");
        private static readonly Fields License = Json.Of("key", "LK-RUN", "activation_id", "b", "entitlement", "run.e.e");
        private static readonly Fields Run = With(Kept.Nothing, "machine", Machine), LicensedRun = Kept.With(Run, License);
        private static readonly Fields File = Kept.Read(Json.Of("key", "LK-FILE", "activation_id", "a", "entitlement", "file.e.e", "refused", null,
            "request", null, "trial_wanted", false, "clock", new Clock(5, 9).ToFields(), "machine", Machine, "install_id", "i", "sharing", true,
            "release", Json.Of("key", "LK-OLD", "activation_id", "old", "machine_id", "m"), "last_answer_at", "2027-01-15T08:00:00Z", "seats", 1));
        private static readonly Fields WithoutLicense = With(File, "key", null, "activation_id", null, "entitlement", null);
        private static readonly bool[] Both = { true, false };

        internal static void AddTo(Suite suite)
        {
            suite.Test("a run that changed nothing leaves the file as it is", () =>
            {
                IsSame(Kept.JoinRun(File, Kept.Nothing, false), File);
                IsSame(Kept.JoinRun(File, Run, false), File);
            });
            suite.Test("everything of the run is kept beside an empty file", () =>
            {
                Fields run = File.Where(each => each.Key != "seats").ToDictionary(each => each.Key, each => each.Value);
                foreach (bool hasOwnLicense in Both) IsSame(Kept.JoinRun(Kept.Read(Kept.Nothing), run, hasOwnLicense), run);
            });
            suite.Test("a trial does not replace a license, and is kept if there is none", () =>
            {
                IsSame(Kept.JoinRun(File, LicensedRun, false), File);
                IsSame(Kept.JoinRun(WithoutLicense, LicensedRun, false), Kept.With(File, License));
            });
            suite.Test("an activated license replaces that of the file", () =>
            {
                Fields refused = Json.Of("refused", Json.Of("reason", "license_revoked"));
                IsSame(Kept.JoinRun(Kept.With(File, refused), LicensedRun, true), Kept.With(File, License));
                IsSame(Kept.JoinRun(File, Kept.With(LicensedRun, refused), true), Kept.With(Kept.With(File, License), refused));
            });
            suite.Test("a license that was removed by the run stays removed", () =>
                IsSame(Kept.JoinRun(File, Run, true), With(Kept.With(File, Kept.NoLicense), "release", File["release"])));
            suite.Test("the answer to a machine without a connection keeps the key of its activation", () =>
            {
                Fields run = With(Run, "activation_id", "a", "entitlement", "run.e.e");
                Suite.Equal(Kept.JoinRun(File, run, true)["key"], "LK-FILE");
                Suite.Equal(Kept.JoinRun(File, With(run, "activation_id", "b"), true)["key"], null);
            });
            suite.Test("a machine waits for its release unless it was activated again", () =>
            {
                Fields release = Json.Of("key", "LK-RUN", "activation_id", "b", "machine_id", "m"), run = With(LicensedRun, "release", release);
                foreach (bool hasOwnLicense in Both) Suite.Equal(Json.Write(Kept.JoinRun(File, run, hasOwnLicense)["release"]), Json.Write(release));
                Suite.Equal(Kept.JoinRun(File, With(LicensedRun, "activation_id", "old"), true)["release"], null);
            });
            suite.Test("a request of the run replaces that of the file", () =>
            {
                Fields file = With(File, "request", "of the file");
                Suite.Equal(Kept.JoinRun(file, With(Run, "request", "of the run"), false)["request"], "of the run");
                Suite.Equal(Kept.JoinRun(file, Run, false)["request"], "of the file");
            });
            suite.Test("a trial replaces an older copy of itself", () =>
            {
                Fields run = With(Run, "key", "LK-RUN", "activation_id", "a", "entitlement", "run.e.e");
                Fields joined = Kept.JoinRun(With(File, "refused", Json.Of("reason", "trial_expired")), run, false);
                Suite.Equal(new[] { joined["key"], joined["entitlement"], joined["refused"] }, new object[] { "LK-RUN", "run.e.e", null });
            });
            suite.Test("a trial that is wanted is kept unless the file has a license", () =>
            {
                Fields run = With(Run, "trial_wanted", true);
                Suite.Equal(Kept.JoinRun(With(File, "key", null), run, false)["trial_wanted"], false);
                Suite.Equal(Kept.JoinRun(File, run, false)["trial_wanted"], false);
                Suite.Equal(Kept.JoinRun(WithoutLicense, run, false)["trial_wanted"], true);
                Suite.Equal(Kept.JoinRun(With(WithoutLicense, "trial_wanted", true), Run, false)["trial_wanted"], true);
            });
            suite.Test("the latest time never decreases when a file is read late", () =>
            {
                long[][] cases = { new long[] { 0, 5, 9 }, new long[] { 8, 7, 9 }, new long[] { 10, 7, 10 } };
                foreach (long[] each in cases)
                {
                    Clock joined = Clock.Of(Kept.JoinRun(File, With(Run, "clock", new Clock(7, each[0]).ToFields()), false));
                    Suite.Equal(new[] { joined.OffsetMs, joined.LatestMs }, each.Skip(1));
                }
            });
            suite.Test("the last answer and consent follow the run, and the installation the file", () =>
            {
                Fields run = Json.Of("sharing", false, "install_id", "new", "last_answer_at", "2027-01-16T08:00:00Z");
                IsSame(Kept.JoinRun(File, Kept.With(Run, run), false), With(Kept.With(File, run), "install_id", "i"));
                Suite.Equal(Kept.JoinRun(With(File, "install_id", null), Kept.With(Run, run), false)["install_id"], "new");
            });
            suite.Test("a random identity of the machine counts only with its license", () =>
            {
                Fields other = Json.Of("machine_id", "n");
                Suite.Equal(Json.Text(Kept.JoinRun(File, With(LicensedRun, "machine", Random), false)["machine"], "machine_id"), "m");
                Suite.IsTrue(Kept.JoinRun(File, With(LicensedRun, "machine", Random), true)["machine"] == Random, "with its license");
                Suite.IsTrue(Kept.JoinRun(With(File, "machine", Random), Run, false)["machine"] == Random, "of the file");
                Suite.IsTrue(Kept.JoinRun(With(File, "machine", null), With(Run, "machine", Random), false)["machine"] == Random, "the only one");
                Suite.IsTrue(Kept.JoinRun(File, With(Run, "machine", other), false)["machine"] == other, "a reading");
            });
            suite.Test("fetched keys are those of the license that remains", () =>
            {
                Fields key = Tokens.ReadKeys(World.Vector("an entitlement")["public_keys"])[0];
                List<object> old = new List<object> { With(key, "kid", "old") }, fetched = new List<object> { With(key, "kid", "new") };
                foreach (bool hasOwnLicense in Both)
                {
                    Func<Fields, Fields, string> join = (file, run) => Json.Write(Kept.JoinRun(file, run, hasOwnLicense)["keys"]);
                    Suite.Equal(join(With(File, "keys", old), With(Run, "keys", fetched)), Json.Write(hasOwnLicense ? fetched : old));
                    Suite.Equal(join(File, With(Run, "keys", fetched)), Json.Write(fetched));
                    Suite.Equal(join(With(File, "keys", old), Run), Json.Write(old));
                }
            });
            suite.Test("a file that cannot be read is not replaced, and is read at the next call", KeepUnreadable);
            suite.Test("the file is read before a write that comes later than the start of its call", ReadBeforeWrite);
            suite.Test("a trial that starts while the file cannot be read does not replace a license", KeepLicense);
            suite.Test("what was joined is written, even if the call changes nothing", WriteJoined);
            suite.Test("a machine whose identity could not be read either keeps that of the license", KeepMachine);
            suite.Test("no event is sent, and none can be erased, while the consent cannot be read", KeepConsent);
            suite.Test("what was tracked before a refusal could be read is deleted, and never sent", DeleteRefused);
            suite.Test("it is deleted, too, if the refusal is read in the middle of a call", DeleteInCall);
            suite.Test("the next start deletes it if the run ended before the refusal could be read", DeleteAtStart);
            suite.Test("what was tracked before a consent could be read, or before the user was asked, is sent", SendConsented);
            suite.Test("the next check comes as soon as after no answer while the file cannot be read", CheckSoon);
        }

        private static void KeepUnreadable()
        {
            World world = new World();
            world.OpenActivated();
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            Suite.Equal(client.OfflineRequestAsync("studio").Result.Ok, true);
            Result[] refused = { client.CheckAsync().Result, client.MachinesAsync().Result, client.MoveHereAsync("any").Result, client.DeactivateAsync().Result };
            foreach (Result each in refused) Suite.Equal(each.Code, "folder_unreadable");
            Suite.Equal(client.State.Reason, "not_activated");
            Suite.Equal(world.Problems.Distinct().OrderBy(each => each), new[] { "folder_unreadable", "folder_unwritable" });
            restore();
            Suite.Equal(client.CheckAsync().Result.Ok, true);
            Suite.Equal(client.State.Kind, Kind.Licensed);
            Suite.IsTrue(world.Kept["key"] != null && world.Kept["request"] != null, "a change was lost");
        }

        private static void ReadBeforeWrite()
        {
            World world = new World();
            world.OpenActivated();
            world.Kept = With(world.Kept, "theme", "dark");
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            world.Script = (path, body) =>
            {
                restore();
                return World.Activated();
            };
            Suite.Equal(client.ActivateAsync(World.Key).Result.Ok, true);
            Suite.Equal(new[] { world.Kept["theme"], world.Kept["entitlement"] }, new[] { "dark", World.Token("an entitlement") });
        }

        private static void KeepLicense()
        {
            World world = new World();
            world.OpenActivated();
            Fields before = world.Kept;
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            world.Script = (path, body) => World.Answer(Json.Of("activation_id", "trial", "license_key", "LK-TRIAL", "entitlement", World.Token("a trial")));
            Suite.Equal(client.StartTrialAsync().Result.Ok, true);
            Suite.Equal(client.State.Kind, Kind.Trial);
            restore();
            Suite.Equal(client.AcceptOfflineAsync("").Result.Code, "entitlement_malformed");
            Suite.Equal(client.State.Kind, Kind.Licensed);
            foreach (string name in License.Keys) Suite.Equal(world.Kept[name], before[name]);
        }

        private static void WriteJoined()
        {
            World world = new World();
            world.OpenActivated();
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            world.Script = (path, body) => World.Answer(Json.Of("activation_id", "another", "entitlement", World.Token("an entitlement")));
            Suite.Equal(client.ActivateAsync(World.Key).Result.Ok, true);
            restore();
            Suite.Equal(client.AcceptOfflineAsync("").Result.Code, "entitlement_malformed");
            Suite.Equal(world.Kept["activation_id"], "another");
        }

        private static void KeepMachine()
        {
            World world = new World();
            world.OpenActivated();
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = Latchkey.Open(FilesTests.Reading(world, () => null));
            restore();
            Suite.Equal(client.OfflineRequestAsync("studio").Result.Ok, true);
            Suite.Equal(client.State.Kind, Kind.Licensed);
            Suite.Equal(Json.Text(world.Kept["machine"], "machine_id"), World.Vector("an entitlement")["machine_id"]);
        }

        private static void KeepConsent()
        {
            World world = new World();
            world.OpenActivated();
            world.Kept = With(world.Kept, "sharing", false, "install_id", "i");
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            client.Track("opened");
            Suite.Equal(client.SetSharingAsync(true).Result.Ok, true);
            Suite.Equal(client.FlushAsync().Result.Code, "sharing_off");
            Suite.Equal(client.EraseAsync().Result.Code, "folder_unreadable");
            Suite.Equal(world.Requests, new string[0]);
            restore();
            Suite.Equal(client.CheckAsync().Result.Ok, true);
            Suite.Equal(new[] { world.Kept["sharing"], world.Kept["install_id"] }, new object[] { true, "i" });
        }

        /// <summary>Opens a client that cannot read a consent, and tracks an event.</summary>
        private static Latchkey TrackUnread(World world, bool? sharing, out Action restore)
        {
            world.OpenActivated();
            world.Kept = With(world.Kept, "sharing", sharing, "install_id", "i");
            restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            client.Track("opened");
            Suite.Equal(EventsTests.Lines(world).Length, 1);
            return client;
        }

        /// <summary>Sends the events that wait, with consent, and returns how many.</summary>
        private static int SendAll(World world, Latchkey client)
        {
            Suite.Equal(client.SetSharingAsync(true).Result.Ok, true);
            world.Script = (path, body) => World.Answer(Json.Of("accepted", 1, "dropped", 0));
            return client.FlushAsync().Result.Sent;
        }

        private static void DeleteRefused()
        {
            World world = new World();
            Latchkey client = TrackUnread(world, false, out Action restore);
            restore();
            Suite.Equal(client.OfflineRequestAsync("studio").Result.Ok, true);
            client.Track("ended");
            Suite.Equal(EventsTests.Lines(world).Length, 0);
            Suite.Equal(SendAll(world, client), 0);
            World other = new World();
            client = TrackUnread(other, false, out restore);
            restore();
            // The call that consents reads the refusal first.
            Suite.Equal(SendAll(other, client), 0);
        }

        private static void DeleteInCall()
        {
            World world = new World();
            Latchkey client = TrackUnread(world, false, out Action restore);
            world.Script = (path, body) =>
            {
                restore();
                return World.Activated();
            };
            Suite.Equal(client.ActivateAsync(World.Key).Result.Ok, true);
            Suite.Equal(EventsTests.Lines(world).Length, 0);
        }

        private static void DeleteAtStart()
        {
            World world = new World();
            TrackUnread(world, false, out Action restore).CloseAsync().Wait();
            restore();
            world.Open();
            Suite.Equal(EventsTests.Lines(world).Length, 0);
        }

        private static void SendConsented()
        {
            foreach (bool? sharing in new bool?[] { true, null, false })
            {
                World world = new World();
                Latchkey client = TrackUnread(world, sharing, out Action restore);
                // A consent of the run counts more than the refusal of the file.
                if (sharing == false) Suite.Equal(client.SetSharingAsync(true).Result.Ok, true);
                restore();
                Suite.Equal(client.OfflineRequestAsync("studio").Result.Ok, true);
                Suite.Equal(SendAll(world, client), 1);
            }
        }

        private static void CheckSoon()
        {
            World world = new World();
            world.OpenActivated();
            Action restore = world.MakeUnreadable("license.json");
            Latchkey client = world.Open();
            Background background = new Background(client);
            long minuteMs = 60000, nowMs = 1800000000000;
            background.FindTrigger(nowMs, null, out bool mustFlush);
            Func<long, Trigger?> pass = minutes => background.FindTrigger(nowMs += minutes * minuteMs, null, out mustFlush);
            background.PlanCheck(Result.Refused("folder_unreadable"));
            Suite.Equal(pass(2), Trigger.Scheduled);
            background.PlanCheck(Result.Done());
            Suite.Equal(pass(4), null);
            Suite.Equal(pass(2), Trigger.Scheduled);
            restore();
            background.PlanCheck(client.CheckAsync().Result);
            for (int passed = 0; passed < 20; passed++) Suite.Equal(pass(4), null);
        }

        private static Fields With(Fields kept, params object[] pairs)
        {
            return Kept.With(kept, Json.Of(pairs));
        }

        /// <summary>The order of the fields does not matter.</summary>
        private static void IsSame(Fields joined, Fields expected)
        {
            Func<Fields, string> write = fields => string.Concat(fields.OrderBy(each => each.Key).Select(each => each.Key + ": " + Json.Write(each.Value) + "\n"));
            Suite.Equal(write(joined), write(expected));
        }
    }
}
