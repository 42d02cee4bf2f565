using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>10,000 failures of the network: nothing is thrown, no state changes, nobody is locked out.</summary>
    internal static class FaultsTests
    {
        private const int Faults = 10000;

        private static readonly Script[] Scripts =
        {
            (path, body) => throw new HttpRequestException("refused", new SocketException((int)SocketError.ConnectionRefused)),
            (path, body) => throw new HttpRequestException("dns", new WebException("name", WebExceptionStatus.NameResolutionFailure)),
            (path, body) => throw new HttpRequestException("tls", new AuthenticationException("untrusted")),
            (path, body) => throw new TaskCanceledException(),
            (path, body) => throw new IOException("closed"),
            (path, body) => throw new InvalidOperationException(""),
            (path, body) => null,
            (path, body) => new HttpResponseMessage(HttpStatusCode.OK) { Content = new StreamContent(new BrokenStream()) },
            (path, body) => new HttpResponseMessage(HttpStatusCode.OK),
            (path, body) => World.Page(200),
            (path, body) => World.Page(302),
            (path, body) => World.Page(403),
            (path, body) => World.Page(404),
            (path, body) => World.Page(407),
            (path, body) => World.Page(502),
            (path, body) => World.Raw(200, ""),
            (path, body) => World.Raw(204, ""),
            (path, body) => World.Raw(200, "{\"valid\":true,\"entitlem"),
            (path, body) => World.Raw(200, "[{}]"),
            (path, body) => World.Raw(200, "null"),
            (path, body) => World.Raw(200, new string('[', 1000)),
            (path, body) => World.Answer(Json.Of("valid", true)),
            (path, body) => Granted("a.b.c"),
            (path, body) => Granted(World.Token("an unknown key")),
            (path, body) => Granted(World.Token("alg none")),
            (path, body) => Granted(World.Token("a signature of 63 bytes")),
            (path, body) => World.Answer(Json.Of("valid", false, "reason", null)),
            (path, body) => World.Raw(403, "{\"error\":\"blocked by policy\"}"),
            (path, body) => World.Raw(403, "{\"code\":\"license_revoked\",\"status\":200}"),
            (path, body) => World.Refusal(429, "rate_limited"),
            (path, body) => World.Refusal(503, "overloaded"),
        };

        internal static void AddTo(Suite suite)
        {
            suite.Test("10,000 faults change no state", () =>
            {
                int unobserved = 0;
                TaskScheduler.UnobservedTaskException += (sender, error) => Interlocked.Increment(ref unobserved);
                World world = new World();
                Latchkey client = world.OpenActivated();
                client.SetSharingAsync(true).Wait();
                client.Track("opened");
                string before = Json.Write(world.Kept);
                Func<Task<Result>>[] calls =
                {
                    () => client.CheckAsync(), () => client.ActivateAsync(World.Key), client.MachinesAsync, () => client.MoveHereAsync("any"), client.FlushAsync,
                };
                for (int fault = 0; fault < Faults; fault++)
                {
                    world.Script = Scripts[fault % Scripts.Length];
                    Result result = calls[fault % calls.Length]().Result;
                    Suite.IsTrue(result.Code == "no_answer", "fault " + fault % Scripts.Length + ": " + result.Code);
                }
                Suite.Equal(client.State.Kind, Kind.Licensed);
                Suite.Equal(Json.Write(world.Kept), before);
                object stored = Json.Of("accepted", 1, "dropped", 0);
                world.Script = (path, body) => path == "/api/v1/events" ? World.Answer(stored) : World.Activated();
                Suite.Equal(new object[] { client.CheckAsync().Result.Ok, client.FlushAsync().Result.Sent }, new object[] { true, 1 });
                GC.Collect();
                GC.WaitForPendingFinalizers();
                Suite.Equal(unobserved, 0);
                Suite.Equal(world.Problems, new string[0]);
            });
        }

        private static HttpResponseMessage Granted(string token)
        {
            return World.Answer(Json.Of("valid", true, "activation_id", World.Activation, "entitlement", token));
        }

        /// <summary>A connection that breaks inside the body.</summary>
        private sealed class BrokenStream : MemoryStream
        {
            public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken stop)
            {
                throw new IOException("reset");
            }
        }
    }
}
