using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>
    /// What a client does: it keeps a license, derives the state from it, and asks the service. One call at a time runs; any thread reads the state.
    /// </summary>
    internal sealed class Session
    {
        /// <summary>What is known at one time; it is replaced as a whole.</summary>
        private sealed class Snapshot
        {
            /// <summary>The content of license.json.</summary>
            internal Fields Kept { get; set; }
            /// <summary>The claims of its entitlement if that is genuine: verifying it takes milliseconds.</summary>
            internal Fields Claims { get; set; }
            internal bool IsAnswered { get; set; }
        }

        private const string Licenses = "/api/v1/licenses/";
        private const long DayMs = 86400000;
        private static readonly string[] Limits = { "activation_limit_reached", "move_limit_reached" };

        private readonly Options options;
        private readonly string path;
        private readonly List<Fields> compiledKeys;
        private readonly ConcurrentQueue<Problem> problems = new ConcurrentQueue<Problem>();
        private volatile Snapshot now = new Snapshot { Kept = Kept.Nothing };
        private volatile string lastSilence;
        private volatile bool machineIsOld = true;
        private volatile bool isUnread = true;
        /// <summary>Whether this run activated a license, apart from a trial, or removed it again, before the file could be read.</summary>
        private bool hasOwnLicense;
        /// <summary>The key that was last refused because no machine is free; the program shows its machines.</summary>
        private string wantedKey;

        /// <summary>Reads what is kept, and the identity of the machine unless one is kept: that is read again before the first call.</summary>
        internal Session(Options options)
        {
            this.options = options;
            path = Path.Combine(options.Folder, "license.json");
            compiledKeys = Tokens.ReadKeys(Json.Member(Json.Parse(options.PublicKeys), "keys"));
            Network = new Network(options.Handler, options.Service.TrimEnd('/'), options.Timeout);
            Load();
            if (options.Machine != null || Machine == null) ReadMachine();
        }

        internal Network Network { get; }

        internal bool MustReadMachine => machineIsOld;

        /// <summary>Whether there may be a license that could not be read yet.</summary>
        internal bool IsUnread => isUnread;

        /// <summary>Is called once what is kept was read.</summary>
        internal Action OnRead { private get; set; }

        internal string InstallId => Json.Text(now.Kept, "install_id");

        /// <summary>Whether the user shares usage; null: was not asked.</summary>
        internal bool? Sharing => Json.Member(now.Kept, "sharing") as bool?;

        /// <summary>The id under which events are sent now; null: the user does not share usage, or the file cannot be read.</summary>
        internal string SharingId => !isUnread && Sharing == true ? InstallId : null;

        internal long DeviceMs => options.Now().ToUnixTimeMilliseconds();

        internal LicenseState State
        {
            get
            {
                Snapshot at = now;
                long deviceMs = DeviceMs, nowMs = Clock.Of(at.Kept).Now(deviceMs);
                string refused = Json.Text(Json.Member(at.Kept, "refused"), "reason");
                if (!Kept.IsActivated(at.Kept)) return CreateState(at, deviceMs, Kind.None, "not_activated", null);
                if (refused != null) return CreateState(at, deviceMs, Kind.Refused, refused, null);
                string problem = at.Claims == null ? "early" : Tokens.FindTimeProblem(at.Claims, nowMs);
                if (problem == "early") return CreateState(at, deviceMs, Kind.None, "entitlement_invalid", null);
                bool hasExpired = Json.Integer(at.Claims, "license_expires_at") * 1000 <= nowMs;
                if (problem == "late") return CreateState(at, deviceMs, Kind.Ended, hasExpired ? "license_expired" : "entitlement_expired", at.Claims);
                return CreateState(at, deviceMs, Json.IsTrue(at.Claims, "trial") ? Kind.Trial : Kind.Licensed, null, at.Claims);
            }
        }

        /// <param name="reason">Null: the program may run.</param>
        /// <param name="claims">Those of an entitlement that is or was in force, or null.</param>
        private static LicenseState CreateState(Snapshot at, long deviceMs, Kind kind, string reason, Fields claims)
        {
            Clock clock = Clock.Of(at.Kept);
            long? endMs = Json.Integer(claims, "exp") * 1000;
            return new LicenseState
            {
                MayRun = reason == null,
                Kind = kind,
                Reason = reason,
                Tier = Json.Text(claims, "tier"),
                Features = reason == null ? Json.Texts(Json.Member(claims, "features")) : new List<string>(),
                Until = endMs == null ? (DateTimeOffset?)null : Clock.ToTime(endMs.Value),
                DaysLeft = endMs == null ? (long?)null : Math.Max(0, (long)Math.Ceiling((endMs.Value - clock.Now(deviceMs)) / (double)DayMs)),
                IsAnswered = at.IsAnswered,
                LastAnswerAt = Clock.Parse(Json.Text(at.Kept, "last_answer_at")),
                ClockWentBack = clock.WentBack(deviceMs),
            };
        }

        // The calls of a program.

        internal async Task<Result> ActivateAsync(string typed)
        {
            TypedKey read = TypedKey.Read(typed);
            if (read.Verdict == "mistyped" || read.Key == "") return Result.Refused("key_mistyped");
            Answer answer = await Network.AskAsync(Licenses + "activate", Identify("license_key", read.Key)).ConfigureAwait(false);
            Result result = await AcceptActivationAsync(answer, read.Key).ConfigureAwait(false);
            if (result.Ok) wantedKey = null;
            else if (Limits.Contains(result.Code)) wantedKey = read.Key;
            return result;
        }

        internal async Task<Result> StartTrialAsync()
        {
            if (State.Kind == Kind.Licensed) return Result.Refused("already_licensed");
            Answer answer = await Network.AskAsync("/api/v1/trial/start", Identify()).ConfigureAwait(false);
            Result result = await AcceptActivationAsync(answer, null).ConfigureAwait(false);
            bool isWanted = result.Cause != null && Json.Text(now.Kept, "key") == null;
            if (isWanted != Json.IsTrue(now.Kept, "trial_wanted")) Change("trial_wanted", isWanted);
            return result;
        }

        /// <summary>Returns a body with the identity of the machine and of the installation.</summary>
        private Fields Identify(params object[] pairs)
        {
            Fields body = Json.Of(pairs);
            body["machine_fingerprint"] = DescribeMachine();
            if (InstallId != null) body["install_id"] = InstallId;
            return body;
        }

        /// <param name="key">Null: the answer contains it.</param>
        private Task<Result> AcceptActivationAsync(Answer answer, string key)
        {
            string id = Json.Text(answer.Body, "activation_id"), token = Json.Text(answer.Body, "entitlement");
            if (!answer.IsSuccess) return Task.FromResult(EndWithout(answer));
            if (key == null && id != null && Json.Member(answer.Body, "entitlement") == null)
            {
                NoteAnswer(null);
                return Task.FromResult(Result.Refused(Json.Text(answer.Body, "status") == "expired" ? "trial_expired" : "trial_unavailable"));
            }
            string kept = key ?? Json.Text(answer.Body, "license_key");
            if (id == null || token == null || kept == null) return Task.FromResult(EndWithout(Answer.OtherShape()));
            return GrantAsync(answer, token, "key", kept, "activation_id", id, "request", null, "trial_wanted", false,
                "release", Kept.ReleaseAfter(now.Kept, id));
        }

        internal async Task<Result> CheckAsync(Trigger trigger)
        {
            if (Json.Member(now.Kept, "release") != null)
            {
                Result released = await ReleaseAsync().ConfigureAwait(false);
                if (!released.Ok) return released;
            }
            string key = Json.Text(now.Kept, "key"), id = Json.Text(now.Kept, "activation_id");
            bool wantsTrial = Json.IsTrue(now.Kept, "trial_wanted");
            if (key == null || id == null) return wantsTrial ? await StartTrialAsync().ConfigureAwait(false) : RefuseUnactivated();
            Fields body = Json.Of("license_key", key, "activation_id", id, "machine_id", MachineId, "trigger", trigger.ToString().ToLowerInvariant());
            if (InstallId != null) body["install_id"] = InstallId;
            if (Sharing != null) body["usage_sharing"] = Sharing;
            return await AcceptValidationAsync(await Network.AskAsync(Licenses + "validate", body).ConfigureAwait(false)).ConfigureAwait(false);
        }

        private Task<Result> AcceptValidationAsync(Answer answer)
        {
            if (answer.IsAboutLicense) return Task.FromResult(RefuseLicense(answer, answer.Code));
            if (!answer.IsSuccess) return Task.FromResult(EndWithout(answer));
            string token = Json.Text(answer.Body, "entitlement"), reason = Json.Text(answer.Body, "reason");
            bool? valid = Json.Member(answer.Body, "valid") as bool?;
            if (valid == true && token != null) return GrantAsync(answer, token);
            return Task.FromResult(valid == false && reason != null ? RefuseLicense(answer, reason) : EndWithout(Answer.OtherShape()));
        }

        private Result RefuseLicense(Answer answer, string reason)
        {
            NoteAnswer(null);
            string at = Clock.Format(answer.DateMs ?? NowMs);
            Change("refused", Json.Of("reason", reason, "at", at), "last_answer_at", at);
            return Result.Refused(reason);
        }

        /// <summary>Refuses a call that needs a license: there is none, or it could not be read.</summary>
        private Result RefuseUnactivated()
        {
            return Result.Refused(isUnread ? "folder_unreadable" : "not_activated");
        }

        internal async Task<Result> DeactivateAsync()
        {
            string key = Json.Text(now.Kept, "key"), id = Json.Text(now.Kept, "activation_id");
            if (key == null || id == null) return RefuseUnactivated();
            Change("release", Json.Of("key", key, "activation_id", id, "machine_id", MachineId));
            return await ReleaseAsync().ConfigureAwait(false);
        }

        private async Task<Result> ReleaseAsync()
        {
            object waiting = Json.Member(now.Kept, "release");
            string id = Json.Text(waiting, "activation_id");
            Answer answer = await FreeAsync(Json.Text(waiting, "key"), id, Json.Text(waiting, "machine_id")).ConfigureAwait(false);
            if (answer.IsDone || answer.IsAboutLicense)
            {
                NoteAnswer(null);
                Change(id == Json.Text(now.Kept, "activation_id") ? Kept.NoLicense : Json.Of("release", null));
                return Result.Done();
            }
            if (answer.Code != null) Change("release", null);
            return EndWithout(answer.IsSuccess ? Answer.OtherShape() : answer);
        }

        private Task<Answer> FreeAsync(string key, string activationId, string machineId)
        {
            return Network.AskAsync(Licenses + "deactivate", Json.Of("license_key", key, "activation_id", activationId, "machine_id", machineId));
        }

        internal async Task<Result> MachinesAsync()
        {
            List<Fields> listed = new List<Fields>();
            Result result = await ListAsync(listed).ConfigureAwait(false);
            if (result.Ok) result.Machines = listed.Select(DescribeListed).ToList();
            return result;
        }

        private async Task<Result> ListAsync(List<Fields> listed)
        {
            string key = wantedKey ?? Json.Text(now.Kept, "key");
            if (key == null) return RefuseUnactivated();
            Answer answer = await Network.AskAsync(Licenses + Uri.EscapeDataString(key) + "/activations").ConfigureAwait(false);
            if (!answer.IsSuccess) return EndWithout(answer);
            List<object> items = answer.Body as List<object>;
            if (items == null || !items.All(IsMachine)) return EndWithout(Answer.OtherShape());
            listed.AddRange(items.Cast<Fields>());
            NoteAnswer(null);
            return Result.Done();
        }

        private static bool IsMachine(object item)
        {
            return Json.Text(item, "activation_id") != null && Json.Text(item, "machine_id") != null && Json.Member(item, "is_active") is bool;
        }

        private Machine DescribeListed(Fields item)
        {
            string id = Json.Text(item, "activation_id");
            return new Machine
            {
                ActivationId = id,
                IsActive = Json.IsTrue(item, "is_active"),
                IsThis = id == Json.Text(now.Kept, "activation_id") || Json.Text(item, "machine_id") == MachineId,
                OsVersion = Json.Text(item, "os_version"),
                AppVersion = Json.Text(item, "app_version"),
                ActivatedAt = Clock.Parse(Json.Text(item, "activated_at")),
                LastValidatedAt = Clock.Parse(Json.Text(item, "last_validated_at")),
            };
        }

        internal async Task<Result> MoveHereAsync(string activationId)
        {
            string key = wantedKey ?? Json.Text(now.Kept, "key");
            List<Fields> listed = new List<Fields>();
            Result result = await ListAsync(listed).ConfigureAwait(false);
            if (!result.Ok) return result;
            Fields other = listed.FirstOrDefault(each => Json.Text(each, "activation_id") == activationId);
            if (other == null) return Result.Refused("activation_not_found");
            if (Json.IsTrue(other, "is_active"))
            {
                Answer answer = await FreeAsync(key, activationId, Json.Text(other, "machine_id")).ConfigureAwait(false);
                if (!answer.IsDone) return EndWithout(answer.IsSuccess ? Answer.OtherShape() : answer);
            }
            return await ActivateAsync(key).ConfigureAwait(false);
        }

        internal async Task<Result> ActivatePurchaseAsync(string transactionId)
        {
            Answer answer = await Network.AskAsync(Licenses + "check/" + Uri.EscapeDataString(transactionId)).ConfigureAwait(false);
            string status = Json.Text(answer.Body, "status");
            if (!answer.IsSuccess) return EndWithout(answer);
            if (status == null) return EndWithout(Answer.OtherShape());
            NoteAnswer(null);
            List<object> bought = new List<object> { answer.Body };
            bought.AddRange(Json.Member(answer.Body, "licenses") as List<object> ?? new List<object>());
            string key = bought.Select(each => Json.Text(each, "license_key")).FirstOrDefault(each => each != null);
            if (key != null) return await ActivateAsync(key).ConfigureAwait(false);
            return Result.Refused(status == "pending" ? "purchase_pending" : "key_not_shown");
        }

        internal Result CreateOfflineRequest(string product, string name)
        {
            string open = Json.Text(Json.Member(now.Kept, "request"), "nonce"), nonce = open ?? Base64Url.Encode(Chance.Bytes(16));
            Fields content = Json.Of("product", product, "machine_fingerprint", DescribeMachine(), "nonce", nonce, "name", name);
            string request = "LKR1." + Base64Url.Encode(Encoding.UTF8.GetBytes(Json.Write(content)));
            if (open == null) Change("request", Json.Of("nonce", nonce, "created_at", Clock.Format(NowMs)));
            Result result = Result.Done();
            result.Request = request + "." + Tokens.Hash(request).Substring(0, 10);
            return result;
        }

        internal Result AcceptOffline(string text)
        {
            Match found = Tokens.Pattern.Match(Regex.Replace(text, @"[\s>\u200B\uFEFF]", ""));
            if (!found.Success) return Result.Refused("entitlement_malformed");
            Reading reading = Verify(found.Value, KeptKeys);
            Fields claims = reading.Claims;
            string nonce = Json.Text(Json.Member(now.Kept, "request"), "nonce");
            string problem = claims == null ? reading.Verdict : Tokens.FindTimeProblem(claims, NowMs);
            if (problem == null && (nonce == null || nonce != Json.Text(claims, "nonce"))) problem = "nonce";
            if (problem != null) return Result.Refused("entitlement_" + problem);
            string id = Json.Text(claims, "activation_id");
            string key = id == Json.Text(now.Kept, "activation_id") ? Json.Text(now.Kept, "key") : null;
            Change("entitlement", found.Value, "activation_id", id, "key", key, "refused", null, "request", null, "trial_wanted", false,
                "release", Kept.ReleaseAfter(now.Kept, id));
            return Result.Done();
        }

        internal Result KeepSharing(bool sharing)
        {
            Change("sharing", sharing, "install_id", InstallId ?? (sharing ? Guid.NewGuid().ToString() : null));
            return Result.Done();
        }

        /// <summary>Forgets the id of the installation, and returns it. A file that cannot be read keeps it: the call is refused.</summary>
        internal Result ForgetInstall()
        {
            if (isUnread) return Result.Refused("folder_unreadable");
            Result result = Result.Done();
            result.InstallId = InstallId;
            Change("sharing", false, "install_id", null);
            return result;
        }

        internal string Explain(int eventsDropped)
        {
            LicenseState state = State;
            Fields kept = now.Kept;
            string key = Json.Text(kept, "key");
            object refused = Json.Member(kept, "refused");
            Fields lines = Json.Of(
                "state", state.Kind.ToString().ToLowerInvariant() + (state.MayRun ? "" : ", " + state.Reason),
                "until", state.Until == null ? null : Clock.Format(state.Until.Value),
                "tier", state.Tier,
                "features", string.Join(", ", state.Features),
                "key", key == null ? null : "…" + key.Substring(Math.Max(0, key.Length - 5)),
                "machine", Tokens.Hash(MachineId).Substring(0, 8) + " (SHA-256)",
                "last answer", state.LastAnswerAt == null ? "never" : Clock.Format(state.LastAnswerAt.Value),
                "last question", lastSilence ?? "answered, or none",
                "refused", refused == null ? null : Json.Text(refused, "reason") + " at " + Json.Text(refused, "at"),
                "to be freed", Json.Member(kept, "release") == null ? null : "yes",
                "trial to be started", Json.IsTrue(kept, "trial_wanted") ? "yes" : null,
                "request without a connection", Json.Text(Json.Member(kept, "request"), "created_at"),
                "time", Clock.Format(NowMs),
                "device clock", Clock.Format(DeviceMs) + (state.ClockWentBack ? " (was set back)" : ""),
                "service", options.Service,
                "program", options.AppVersion,
                "client", "latchkey for .NET " + Latchkey.Version + ", " + RuntimeInformation.OSDescription + ", " + RuntimeInformation.FrameworkDescription,
                "events dropped", eventsDropped.ToString(System.Globalization.CultureInfo.InvariantCulture));
            IEnumerable<string> facts = lines.Where(each => !string.IsNullOrEmpty((string)each.Value)).Select(each => each.Key + ": " + each.Value);
            return string.Concat(facts.Concat(problems.Select(each => "problem: " + each.Code + ": " + each.Message)).Select(each => each + "\n"));
        }

        // Answers of the service.

        /// <summary>Keeps a positive answer: without a verified entitlement, it is no answer.</summary>
        private async Task<Result> GrantAsync(Answer answer, string token, params object[] changes)
        {
            List<Fields> keys = KeptKeys;
            Reading reading = Verify(token, keys);
            if (reading.Verdict == "unknown_key" && Network.IsTrustworthy)
            {
                Answer published = await Network.AskAsync("/.well-known/jwks.json").ConfigureAwait(false);
                keys = Tokens.ReadKeys(Json.Member(published.Body, "keys")).Take(20).ToList();
                reading = Verify(token, keys);
            }
            if (reading.Claims == null) return EndWithout(NotAccepted(reading.Verdict));
            long deviceMs = DeviceMs, serviceMs = Clock.ServiceTime(answer.DateMs, Json.Integer(reading.Claims, "iat").Value * 1000);
            Clock clock = Clock.Of(now.Kept).Learn(deviceMs, serviceMs);
            // With the new time, so that a machine whose clock stands in 1970 can be activated.
            string problem = Tokens.FindTimeProblem(reading.Claims, clock.Now(deviceMs));
            if (problem != null) return EndWithout(NotAccepted(problem));
            NoteAnswer(null);
            Fields granted = Json.Of("clock", clock.ToFields(), "keys", keys.ToList<object>(), "entitlement", token, "refused", null,
                "last_answer_at", Clock.Format(serviceMs));
            Change(Kept.With(granted, Json.Of(changes)));
            return Result.Done();
        }

        private static Answer NotAccepted(string verdict)
        {
            return Answer.Silent(Cause.Portal, "the entitlement is not accepted: " + verdict);
        }

        private Result EndWithout(Answer answer)
        {
            if (answer.Cause != null)
            {
                NoteAnswer(answer.Cause.ToString().ToLowerInvariant() + ": " + answer.Detail);
                return Result.Unanswered(answer);
            }
            NoteAnswer(null);
            Result refused = Result.Refused(answer.Code);
            refused.Max = Json.Integer(answer.Body, "max");
            refused.Current = Json.Integer(answer.Body, "current");
            refused.AvailableAt = Clock.Parse(Json.Text(answer.Body, "available_at"));
            return refused;
        }

        private void NoteAnswer(string silence)
        {
            lastSilence = silence;
            now = new Snapshot { Kept = now.Kept, Claims = now.Claims, IsAnswered = silence == null };
        }

        // What is kept.

        /// <summary>Reads what is kept unless it was read before, and joins what this run changed until then.</summary>
        internal void Load()
        {
            if (!isUnread) return;
            Files.RemoveOldTemporaries(Path.GetDirectoryName(path));
            string[] read = Attempt("folder_unreadable", () => new[] { Files.Retry(() => Files.Read(path)) });
            if (read == null) return;
            Fields file = read[0] == null ? Kept.Nothing : Json.Parse(read[0]) as Fields;
            if (file == null) SetAside();
            file = Kept.Read(file ?? Kept.Nothing);
            bool isChanged = now.Kept != Kept.Nothing;
            Adopt(isChanged ? Kept.JoinRun(file, now.Kept, hasOwnLicense) : file);
            isUnread = false;
            OnRead?.Invoke();
            if (isChanged) Attempt("folder_unwritable", Write);
        }

        private void SetAside()
        {
            Report(new Problem("file_damaged", "the kept state is damaged and was renamed"));
            Attempt("folder_unwritable", () => Files.SetAside(path));
        }

        private void Change(params object[] pairs)
        {
            Change(Json.Of(pairs));
        }

        private void Change(Fields changes)
        {
            Adopt(Kept.With(now.Kept, changes));
            if (isUnread)
            {
                hasOwnLicense |= Kept.IsActivated(now.Kept) && !Json.IsTrue(now.Claims, "trial");
                Load();
                if (!isUnread) return;
            }
            Attempt("folder_unwritable", Write);
        }

        private string Write()
        {
            if (isUnread) throw new IOException(path + " is not replaced, because it was not read");
            return Files.Replace(path, Json.Write(now.Kept) + "\n");
        }

        /// <summary>Both at once, so that no state is derived from old and new values. An entitlement is verified once.</summary>
        private void Adopt(Fields kept)
        {
            Snapshot before = now;
            bool isSame = new[] { "entitlement", "machine", "keys" }
                .All(each => Json.Write(Json.Member(kept, each)) == Json.Write(Json.Member(before.Kept, each)));
            string token = Json.Text(kept, "entitlement"), machineId = Json.Text(Json.Member(kept, "machine"), "machine_id");
            Fields claims = isSame ? before.Claims : null;
            if (!isSame && token != null && machineId != null)
            {
                claims = Tokens.Read(token, TrustIn(Tokens.ReadKeys(Json.Member(kept, "keys")), machineId)).Claims;
            }
            now = new Snapshot { Kept = kept, Claims = claims, IsAnswered = before.IsAnswered };
        }

        private T Attempt<T>(string code, Func<T> work)
        {
            try
            {
                return work();
            }
            catch (Exception error)
            {
                Report(code, error);
                return default(T);
            }
        }

        internal void Report(string code, Exception error)
        {
            Report(new Problem(code, Network.Describe(error)));
        }

        internal void Report(Problem problem)
        {
            problems.Enqueue(problem);
            if (problems.Count > 5) problems.TryDequeue(out Problem oldest);
            try
            {
                options.OnProblem?.Invoke(problem);
            }
            catch (Exception)
            {
                // The function of the program failed; a client throws nothing into it.
            }
        }

        // The machine, the time, and trust.

        private Fields Machine => Json.Member(now.Kept, "machine") as Fields;

        private string MachineId => Json.Text(Machine, "machine_id");

        private Fields DescribeMachine()
        {
            Fields described = new Fields(Machine) { ["app_version"] = options.AppVersion };
            if (options.OsVersion != null) described["os_version"] = options.OsVersion;
            return described;
        }

        /// <summary>Keeps the new reading, else the last good one, else a random identity, which stays while a license uses it.</summary>
        internal void ReadMachine()
        {
            if (!machineIsOld) return;
            machineIsOld = false;
            Fields reading = options.Machine == null ? null : MachineReader.ReadFingerprint(new Fields(options.Machine));
            if (reading == null) reading = Attempt("machine_unreadable", () => MachineReader.ReadFingerprint(options.ReadMachine()));
            if (reading == null) Report(new Problem("machine_unreadable", "could not read the identity of the machine"));
            Fields chosen = Kept.ChooseMachine(now.Kept, reading) ?? Json.Of("machine_id", "generated-" + Guid.NewGuid());
            if (Json.Write(chosen) != Json.Write(Machine)) Change("machine", chosen);
        }

        private long NowMs => Clock.Of(now.Kept).Now(DeviceMs);

        private List<Fields> KeptKeys => Tokens.ReadKeys(Json.Member(now.Kept, "keys"));

        private Reading Verify(string token, List<Fields> keys)
        {
            return Tokens.Read(token, TrustIn(keys, MachineId));
        }

        private Trust TrustIn(List<Fields> keys, string machineId)
        {
            return new Trust { Keys = compiledKeys.Concat(keys).ToList(), Issuer = options.Issuer, Products = options.Products, MachineId = machineId };
        }
    }
}
