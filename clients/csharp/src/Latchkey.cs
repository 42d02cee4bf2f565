using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    public enum Kind { Licensed, Trial, None, Ended, Refused }

    /// <summary>Why the service did not answer. <c>Portal</c>: something else did, such as a login page. <c>Busy</c>: 429 or 5xx.</summary>
    public enum Cause { Dns, Connection, Tls, Proxy, Timeout, Portal, Busy }

    /// <summary>Why a client asks.</summary>
    public enum Trigger { Startup, Scheduled, Foreground, Wake, Reconnect, Manual }

    /// <summary>What the program may do, and why.</summary>
    public sealed class LicenseState
    {
        public bool MayRun { get; internal set; }
        public Kind Kind { get; internal set; }
        /// <summary>Why it may not run: a code; null while it may.</summary>
        public string Reason { get; internal set; }
        public string Tier { get; internal set; }
        /// <summary>Empty whenever the program may not run.</summary>
        public IReadOnlyList<string> Features { get; internal set; }
        /// <summary>The end of the entitlement; null without one.</summary>
        public DateTimeOffset? Until { get; internal set; }
        /// <summary>Whole days until then, rounded up; null without an entitlement.</summary>
        public long? DaysLeft { get; internal set; }
        /// <summary>Whether the last question since the start was answered.</summary>
        public bool IsAnswered { get; internal set; }
        public DateTimeOffset? LastAnswerAt { get; internal set; }
        /// <summary>Whether the device's clock was set back. Ask the user; nothing is locked.</summary>
        public bool ClockWentBack { get; internal set; }

        /// <summary>What a program shows: the time of the last answer alone is no change.</summary>
        internal string Shown => string.Join("|", MayRun, Kind, Reason, Tier, string.Join(",", Features), Until, DaysLeft, ClockWentBack);
    }

    /// <summary>A machine of the license. Versions and times are null if they are not known.</summary>
    public sealed class Machine
    {
        public string ActivationId { get; internal set; }
        public bool IsActive { get; internal set; }
        /// <summary>Whether the program runs on it.</summary>
        public bool IsThis { get; internal set; }
        public string OsVersion { get; internal set; }
        public string AppVersion { get; internal set; }
        public DateTimeOffset? ActivatedAt { get; internal set; }
        public DateTimeOffset? LastValidatedAt { get; internal set; }
    }

    /// <summary>The outcome of a call. Properties that a call does not have are null, empty or 0.</summary>
    public sealed class Result
    {
        public bool Ok { get; private set; }
        /// <summary>
        /// Null if <see cref="Ok"/>; <c>no_answer</c>: nothing changed; else a code of the service, or of the client: <c>key_mistyped</c>,
        /// <c>not_activated</c>, <c>folder_unreadable</c>, <c>already_licensed</c>, <c>trial_expired</c>, <c>trial_unavailable</c>,
        /// <c>purchase_pending</c>, <c>key_not_shown</c>, <c>aborted</c>, <c>sharing_off</c>, <c>unexpected</c>, and <c>entitlement_</c> with the
        /// reason why an answer for use without a connection is not accepted.
        /// </summary>
        public string Code { get; private set; }
        /// <summary>Why there is no answer; null for everything else.</summary>
        public Cause? Cause { get; private set; }
        /// <summary>How long the service asked to wait.</summary>
        public TimeSpan RetryAfter { get; private set; }
        /// <summary>Of a limit: how many are allowed, how many there are, and when the next one is possible.</summary>
        public long? Max { get; internal set; }
        public long? Current { get; internal set; }
        public DateTimeOffset? AvailableAt { get; internal set; }
        /// <summary>Of <see cref="Latchkey.MachinesAsync"/>.</summary>
        public IReadOnlyList<Machine> Machines { get; internal set; } = new Machine[0];
        /// <summary>Of <see cref="Latchkey.OfflineRequestAsync"/>.</summary>
        public string Request { get; internal set; }
        /// <summary>Of <see cref="Latchkey.FlushAsync"/>: events that the service has now, and those that it refuses permanently.</summary>
        public int Sent { get; internal set; }
        public int Rejected { get; internal set; }
        /// <summary>Of <see cref="Latchkey.EraseAsync"/>.</summary>
        public string InstallId { get; internal set; }

        internal static Result Done()
        {
            return new Result { Ok = true };
        }

        internal static Result Refused(string code)
        {
            return new Result { Code = code };
        }

        internal static Result Unanswered(Answer answer)
        {
            return new Result { Code = "no_answer", Cause = answer.Cause, RetryAfter = TimeSpan.FromMilliseconds(answer.RetryAfterMs) };
        }
    }

    /// <summary>A failure that the client works around. The message contains no key.</summary>
    public sealed class Problem
    {
        internal Problem(string code, string message)
        {
            Code = code;
            Message = message;
        }

        public string Code { get; }
        public string Message { get; }
    }

    /// <summary>What a program passes to <see cref="Latchkey.Open"/>. Service to AppVersion are required.</summary>
    public sealed class Options
    {
        /// <summary>The address of the service.</summary>
        public string Service { get; set; } = "";
        /// <summary>The service's <c>LATCHKEY_PUBLIC_URL</c>, which its entitlements name.</summary>
        public string Issuer { get; set; } = "";
        /// <summary>The ids of your products in the catalogue.</summary>
        public IReadOnlyList<string> Products { get; set; } = new string[0];
        /// <summary>The document of the service's <c>/.well-known/jwks.json</c>, compiled into the program.</summary>
        public string PublicKeys { get; set; } = "";
        /// <summary>A folder of the program and this user, for license.json and events.jsonl.</summary>
        public string Folder { get; set; } = "";
        public string AppVersion { get; set; } = "";
        /// <summary>Shown to support, never compared.</summary>
        public string OsVersion { get; set; } = Environment.OSVersion.Version.ToString();
        /// <summary>The identity of this machine, with a <c>machine_id</c>; default: that of the system.</summary>
        public IDictionary<string, object> Machine { get; set; }
        /// <summary>Reads the identity of this machine; null if that fails: the last good one counts.</summary>
        public Func<IDictionary<string, object>> ReadMachine { get; set; } = MachineReader.ReadOwn;
        /// <summary>Sends the requests; it must not follow redirects. Default: a <see cref="HttpClientHandler"/> with the proxy of the system.</summary>
        public HttpMessageHandler Handler { get; set; }
        /// <summary>The time of one request as a whole.</summary>
        public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(10);
        /// <summary>The clock of the device.</summary>
        public Func<DateTimeOffset> Now { get; set; } = () => DateTimeOffset.UtcNow;
        /// <summary>Receives failures that the client works around.</summary>
        public Action<Problem> OnProblem { get; set; }

        internal void Check()
        {
            List<object> keys = Json.Member(Json.Parse(PublicKeys ?? ""), "keys") as List<object>;
            Dictionary<string, bool> rules = new Dictionary<string, bool>
            {
                ["Service must be an http or https URL"] = Network.IsWebAddress(Service),
                ["Issuer must be a text"] = !string.IsNullOrEmpty(Issuer),
                ["Products must list ids"] = Products != null && Products.Count > 0,
                ["PublicKeys must list Ed25519 keys"] = keys != null && Tokens.ReadKeys(keys).Count == keys.Count,
                ["Folder must be a path"] = !string.IsNullOrEmpty(Folder),
                ["AppVersion must be a text"] = !string.IsNullOrEmpty(AppVersion),
                ["Timeout must be positive"] = Timeout > TimeSpan.Zero,
            };
            string[] broken = rules.Where(each => !each.Value).Select(each => each.Key).ToArray();
            if (broken.Length > 0) throw new ArgumentException("Latchkey.Open: " + string.Join("; ", broken));
        }
    }

    /// <summary>
    /// The license of a program on this machine. <see cref="State"/> is ready from disk, needs no network, and may be read by any thread. The calls
    /// run one after the other on threads of the pool, and report failures in their <see cref="Result"/>.
    /// </summary>
    public sealed class Latchkey : IDisposable
    {
        public const string Version = "1.0.0";

        private readonly Session session;
        private readonly Events events;
        private readonly Background background;
        private readonly Sequence calls = new Sequence(), flushes = new Sequence();
        private readonly object showing = new object();
        private string shown;

        /// <summary>Reads what is kept. It sends no request, so that a program starts at once.</summary>
        /// <exception cref="ArgumentException">An option is wrong. Nothing else of a client throws.</exception>
        public static Latchkey Open(Options options)
        {
            options.Check();
            return new Latchkey(options);
        }

        private Latchkey(Options options)
        {
            session = new Session(options);
            events = new Events(options, session);
            background = new Background(this);
            shown = State.Shown;
            if (session.MustReadMachine) _ = RunAsync(() => Task.FromResult(Result.Done()));
        }

        /// <summary>Is raised on a thread of the pool when the state changed, but not during <see cref="Open"/>.</summary>
        public event Action<LicenseState> Changed;

        /// <summary>What the program may do now. It is computed at each access.</summary>
        public LicenseState State => session.State;

        /// <summary>Whether the program may run, with this feature.</summary>
        public bool Has(string feature)
        {
            return State.Features.Contains(feature);
        }

        /// <summary>Activates this machine with a key, as a person typed it.</summary>
        public Task<Result> ActivateAsync(string key)
        {
            return RunAsync(() => session.ActivateAsync(key ?? ""));
        }

        /// <summary>Starts the trial of this machine. Without an answer, <see cref="KeepChecking"/> starts it later.</summary>
        public Task<Result> StartTrialAsync()
        {
            return RunAsync(session.StartTrialAsync);
        }

        /// <summary>Asks the service whether this machine may run.</summary>
        public Task<Result> CheckAsync(Trigger trigger = Trigger.Manual)
        {
            return RunAsync(() => session.CheckAsync(trigger));
        }

        /// <summary>
        /// Checks now and from now on: daily, after sleep, when the network returns; and sends events. It does not keep the program running.
        /// </summary>
        public void KeepChecking()
        {
            background.Start();
        }

        /// <summary>Call it when a window of the program comes to the front: a check follows, at most one a minute.</summary>
        public void NoticeFocus()
        {
            background.NoticeFocus();
        }

        /// <summary>Lists the machines of the license, or of the key that was just refused because none is free.</summary>
        public Task<Result> MachinesAsync()
        {
            return RunAsync(session.MachinesAsync);
        }

        /// <summary>Frees another machine of the license, and activates this one.</summary>
        public Task<Result> MoveHereAsync(string activationId)
        {
            return RunAsync(() => session.MoveHereAsync(activationId));
        }

        /// <summary>Frees this machine. Without an answer it continues to run, and the next check frees it.</summary>
        public Task<Result> DeactivateAsync()
        {
            return RunAsync(session.DeactivateAsync);
        }

        /// <summary>
        /// Waits for the license of a purchase, by default ten minutes, and activates it. The payment may be confirmed while the network is away.
        /// </summary>
        public async Task<Result> AfterPurchaseAsync(string transactionId, TimeSpan? timeout = null, CancellationToken stop = default(CancellationToken))
        {
            DateTime end = DateTime.UtcNow + (timeout ?? TimeSpan.FromMinutes(10));
            for (double waitMs = 2000; ; waitMs = Math.Min(15000, waitMs * 1.3))
            {
                if (stop.IsCancellationRequested) return Result.Refused("aborted");
                Result result = await RunAsync(() => session.ActivatePurchaseAsync(transactionId ?? "")).ConfigureAwait(false);
                bool isOpen = result.Cause != null || result.Code == "purchase_pending";
                if (!isOpen || DateTime.UtcNow >= end) return result;
                await Task.WhenAny(Task.Delay(TimeSpan.FromMilliseconds(waitMs), stop)).ConfigureAwait(false);
            }
        }

        /// <summary>Creates the text of a machine without a connection, for the page for buyers.</summary>
        /// <param name="product">The id of the product in the catalogue.</param>
        /// <param name="name">What the user calls the machine, or null.</param>
        public Task<Result> OfflineRequestAsync(string product, string name = null)
        {
            return RunAsync(() => Task.FromResult(session.CreateOfflineRequest(product, name)));
        }

        /// <summary>Accepts the answer to the last request, with any text around it.</summary>
        public Task<Result> AcceptOfflineAsync(string text)
        {
            return RunAsync(() => Task.FromResult(session.AcceptOffline(text ?? "")));
        }

        /// <summary>Keeps an event until it is sent: it is on disk when this returns. Nothing is sent before the user agreed.</summary>
        /// <param name="name">Such as <c>export_finished</c>.</param>
        /// <param name="props">Texts, numbers and bool; no names, addresses or free text of people.</param>
        public void Track(string name, IDictionary<string, object> props = null)
        {
            events.Track(name ?? "", props ?? new Dictionary<string, object>());
        }

        /// <summary>Sends the events that wait, if the user shares usage. <see cref="KeepChecking"/> does it each minute.</summary>
        public Task<Result> FlushAsync()
        {
            return flushes.RunAsync(() => GuardAsync(events.FlushAsync));
        }

        /// <summary>Notes whether the user shares usage; the next check reports it. Without consent, all events are deleted.</summary>
        public Task<Result> SetSharingAsync(bool sharing)
        {
            return RunAsync(async () =>
            {
                Result result = session.KeepSharing(sharing);
                if (!sharing) await ClearEventsAsync().ConfigureAwait(false);
                return result;
            });
        }

        /// <summary>
        /// Deletes the events and the id of this installation here, and stops sharing. The vendor erases what was sent under the id that is returned.
        /// </summary>
        public Task<Result> EraseAsync()
        {
            return RunAsync(async () =>
            {
                Result result = session.ForgetInstall();
                if (result.Ok) await ClearEventsAsync().ConfigureAwait(false);
                return result;
            });
        }

        /// <summary>Deletes what waits, and waits for a batch that is being sent.</summary>
        private Task ClearEventsAsync()
        {
            events.Clear();
            return flushes.RunAsync(() => Task.FromResult(Result.Done()));
        }

        /// <summary>Describes the license for support, without key, token and machine id.</summary>
        public string Explain()
        {
            return session.Explain(events.Dropped);
        }

        /// <summary>Ends the checks, and waits for calls that run. Events wait for the next start.</summary>
        public async Task CloseAsync()
        {
            background.Stop();
            Changed = null;
            Func<Task<Result>> nothing = () => Task.FromResult(Result.Done());
            await Task.WhenAll(calls.RunAsync(nothing), flushes.RunAsync(nothing)).ConfigureAwait(false);
            session.Network.Close();
        }

        /// <summary>Ends the checks, without a wait for calls that run.</summary>
        public void Dispose()
        {
            background.Stop();
            session.Network.Close();
        }

        private async Task<Result> RunAsync(Func<Task<Result>> work)
        {
            Result result = await calls.RunAsync(() => GuardAsync(() =>
            {
                session.Load();
                session.ReadMachine();
                return work();
            })).ConfigureAwait(false);
            if (result.Cause != null) background.NoticeFailure(result);
            Notify();
            return result;
        }

        private async Task<Result> GuardAsync(Func<Task<Result>> work)
        {
            try
            {
                return await work().ConfigureAwait(false);
            }
            catch (Exception error)
            {
                session.Report("unexpected", error);
                return Result.Refused("unexpected");
            }
        }

        /// <summary>Raises the event if the state is not that which was shown last.</summary>
        internal void Notify()
        {
            LicenseState state = State;
            lock (showing)
            {
                if (shown == state.Shown) return;
                shown = state.Shown;
            }
            foreach (Delegate listener in Changed?.GetInvocationList() ?? new Delegate[0])
            {
                try
                {
                    ((Action<LicenseState>)listener)(state);
                }
                catch (Exception error)
                {
                    session.Report("listener", error);
                }
            }
        }

        internal long DeviceMs => session.DeviceMs;

        internal bool IsUnread => session.IsUnread;
    }

    /// <summary>Runs work one after the other, on threads of the pool.</summary>
    internal sealed class Sequence
    {
        private readonly object gate = new object();
        private Task last = Task.FromResult(true);

        internal Task<Result> RunAsync(Func<Task<Result>> work)
        {
            lock (gate)
            {
                Task<Result> next = last.ContinueWith(_ => work(), TaskScheduler.Default).Unwrap();
                last = next;
                return next;
            }
        }
    }
}
