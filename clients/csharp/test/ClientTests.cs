using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>What a program sees of a client, with a service that answers as scripted.</summary>
    internal static class ClientTests
    {
        internal static void AddTo(Suite suite)
        {
            suite.Test("activates, and starts again from what is kept without a request", () =>
            {
                World world = new World();
                world.OpenActivated().CloseAsync().Wait();
                Latchkey again = world.Open();
                object[] read = { again.State.Kind, again.Has("gpu"), again.Has("other"), again.State.IsAnswered };
                Suite.Equal(read, new object[] { Kind.Licensed, true, false, false });
                Suite.Equal(world.Requests, new string[0]);
            });
            suite.Test("ends with the entitlement, and a refusal lasts until a positive answer", EndAndRefuse);
            suite.Test("a trial that was not answered is started by the next check", () =>
            {
                World world = new World();
                Suite.Equal(world.Open().StartTrialAsync().Result.Cause, Cause.Connection);
                Latchkey again = world.Open();
                Suite.IsTrue(again.Explain().Contains("trial to be started: yes"), again.Explain());
                world.Script = (path, body) => World.Activated("a trial");
                Suite.Equal(again.CheckAsync().Result.Ok, true);
                Suite.Equal(again.State.Kind, Kind.Trial);
            });
            suite.Test("calls run one after the other, while any thread reads the state", CallTogether);
            suite.Test("listeners hear of changes, and may throw and call", Listen);
            suite.Test("a handler that ignores its token cannot hold a call", () =>
            {
                World world = new World();
                Options options = world.Options;
                options.Handler = new DeafHandler();
                options.Timeout = TimeSpan.FromMilliseconds(50);
                Suite.Equal(Latchkey.Open(options).ActivateAsync(World.Key).Result.Cause, Cause.Timeout);
            });
            suite.Test("an accepted answer ends the deactivation of its own activation, and of no other", () =>
            {
                foreach (bool isSame in new[] { true, false })
                {
                    World world = new World();
                    world.OpenActivated();
                    Fields kept = world.Kept, vector = World.Vector("the nonce of the open request");
                    string payload = Json.Text(vector, "token").Split('.')[1];
                    object claims = Json.Parse(Encoding.UTF8.GetString(Base64Url.Decode(payload)));
                    string id = isSame ? Json.Text(claims, "activation_id") : "another";
                    kept["activation_id"] = id;
                    kept["request"] = Json.Of("nonce", vector["nonce"]);
                    kept["release"] = Json.Of("key", World.Key, "activation_id", id, "machine_id", vector["machine_id"]);
                    world.Kept = kept;
                    Suite.Equal(world.Open().AcceptOfflineAsync(Json.Text(vector, "token")).Result.Ok, true);
                    Suite.Equal(Json.Text(world.Kept["release"], "activation_id"), isSame ? null : id);
                }
            });
            suite.Test("a purchase is activated with its key, and is pending without an answer", Purchase);
            suite.Test("the explanation contains no secret", () =>
            {
                World world = new World();
                string text = world.OpenActivated().Explain();
                string machineId = Json.Text(World.Vector("an entitlement"), "machine_id");
                string[] secrets = { World.Key, World.Key.Substring(3), World.Token("an entitlement"), machineId };
                foreach (string secret in secrets) Suite.IsTrue(!text.Contains(secret), "contains " + secret);
                Suite.IsTrue(text.StartsWith("state: licensed\n", StringComparison.Ordinal) && text.Contains("key: …GMAD0\n"), text);
            });
            suite.Test("wrong options are all named at once", () =>
            {
                string message = "";
                try
                {
                    Latchkey.Open(new Options { Service = "ftp://x", PublicKeys = "{}" });
                }
                catch (ArgumentException error)
                {
                    message = error.Message;
                }
                string[] names = { "Service", "Issuer", "Products", "PublicKeys", "Folder", "AppVersion" };
                foreach (string name in names) Suite.IsTrue(message.Contains(name + " must"), message);
            });
            suite.Test("checks follow each other after a day, or 1, 5, 15 and 60 minutes without an answer", () =>
            {
                IEnumerable<long> waits = Enumerable.Range(0, 6).Select(failures => Background.WaitMs(failures, TimeSpan.Zero, 0.5) / 60000);
                Suite.Equal(waits, new long[] { 1440, 1, 5, 15, 60, 60 });
                Suite.Equal(Background.WaitMs(1, TimeSpan.FromMinutes(10), 0) / 60000, 9L);
            });
            suite.Test("a check is due after sleep, by time, and with other addresses after a failure", FindTriggers);
            suite.Test("checking in the background begins at once", () =>
            {
                World world = new World();
                world.OpenActivated().CloseAsync().Wait();
                Latchkey client = world.Open();
                ManualResetEventSlim asked = new ManualResetEventSlim();
                world.Script = (path, body) =>
                {
                    if (Json.Text(body, "trigger") == "startup") asked.Set();
                    return World.Activated();
                };
                client.KeepChecking();
                Suite.IsTrue(asked.Wait(30000), "no check at the start");
                client.CloseAsync().Wait();
            });
        }

        private static void EndAndRefuse()
        {
            World world = new World();
            Latchkey client = world.OpenActivated();
            world.Now += TimeSpan.FromDays(15);
            Suite.Equal(new object[] { client.State.Kind, client.State.Reason, client.State.DaysLeft }, new object[] { Kind.Ended, "entitlement_expired", 0 });
            world.Now -= TimeSpan.FromDays(15);
            world.Script = (path, body) => World.Refusal(403, "license_revoked");
            Suite.Equal(client.CheckAsync().Result.Code, "license_revoked");
            Latchkey again = world.Open();
            Suite.Equal(new object[] { again.State.Kind, again.State.Reason, again.Has("gpu") }, new object[] { Kind.Refused, "license_revoked", false });
            world.Script = (path, body) => World.Activated();
            Suite.Equal(again.CheckAsync().Result.Ok, true);
            Suite.Equal(new object[] { again.State.Kind, again.State.DaysLeft }, new object[] { Kind.Licensed, 14 });
        }

        private static void CallTogether()
        {
            World world = new World();
            Latchkey client = world.OpenActivated();
            int running = 0, most = 0;
            world.Script = (path, body) =>
            {
                most = Math.Max(most, Interlocked.Increment(ref running));
                Suite.Equal(client.State.Kind, Kind.Licensed);
                Interlocked.Decrement(ref running);
                return World.Activated();
            };
            Task<Result>[] calls = Enumerable.Range(0, 40).Select(_ => Task.Run(() => client.CheckAsync())).ToArray();
            Suite.Equal(calls.All(each => each.Result.Ok), true);
            Suite.Equal(new[] { most, world.Requests.Count }, new[] { 1, 40 });
        }

        private static void Listen()
        {
            World world = new World();
            Latchkey client = world.Open();
            List<Kind> heard = new List<Kind>();
            client.Changed += state => throw new InvalidOperationException("a listener of the program");
            client.Changed += state => heard.Add(client.CheckAsync().Result.Ok ? state.Kind : Kind.None);
            world.Script = (path, body) => World.Activated();
            Suite.Equal(client.ActivateAsync(World.Key).Result.Ok, true);
            Suite.Equal(client.CheckAsync().Result.Ok, true);
            Suite.Equal(heard, new[] { Kind.Licensed });
            Suite.Equal(world.Problems, new[] { "listener" });
        }

        private static void Purchase()
        {
            World world = new World();
            Latchkey client = world.Open();
            Suite.Equal(client.AfterPurchaseAsync("txn", TimeSpan.Zero).Result.Cause, Cause.Connection);
            world.Script = (path, body) => World.Answer(Json.Of("status", "pending"));
            Suite.Equal(client.AfterPurchaseAsync("txn", TimeSpan.Zero).Result.Code, "purchase_pending");
            CancellationTokenSource stop = new CancellationTokenSource();
            Task<Result> waiting = client.AfterPurchaseAsync("txn", null, stop.Token);
            stop.Cancel();
            Suite.Equal(waiting.Result.Code, "aborted");
            world.Script = (path, body) => World.Answer(Json.Of("status", "completed", "licenses", new List<object>()));
            Suite.Equal(client.AfterPurchaseAsync("txn").Result.Code, "key_not_shown");
            List<object> licenses = new List<object> { Json.Of("license_key", World.Key) };
            world.Script = (path, body) => path.EndsWith("/check/txn", StringComparison.Ordinal)
                ? World.Answer(Json.Of("status", "completed", "licenses", licenses)) : World.Activated();
            Suite.Equal(client.AfterPurchaseAsync("txn").Result.Ok, true);
            Suite.Equal(client.State.MayRun, true);
        }

        private static void FindTriggers()
        {
            World world = new World();
            Background background = new Background(world.OpenActivated());
            long minuteMs = 60000, nowMs = 1800000000000;
            background.FindTrigger(nowMs, "train", out bool mustFlush);
            Func<long, string, Trigger?> find = (passedMs, addresses) => background.FindTrigger(nowMs += passedMs, addresses, out mustFlush);
            Result unanswered = Result.Unanswered(Answer.Silent(Cause.Dns, ""));
            background.PlanCheck(Result.Done());
            Suite.Equal(find(minuteMs, "train"), null);
            Suite.Equal(find(minuteMs, "office"), null);
            Suite.Equal(find(6 * minuteMs, "office"), Trigger.Wake);
            Suite.Equal(find(-60 * minuteMs, "office"), Trigger.Wake);
            Suite.Equal(find(minuteMs, "office"), null);
            background.NoticeFailure(unanswered);
            Suite.Equal(find(minuteMs, "home"), Trigger.Reconnect);
            Suite.Equal(find(minuteMs, "home"), Trigger.Scheduled);
        }

        private sealed class DeafHandler : HttpMessageHandler
        {
            protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken stop)
            {
                return new TaskCompletionSource<HttpResponseMessage>().Task;
            }
        }
    }
}
