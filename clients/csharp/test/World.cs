using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>Answers a request; what it throws is a failure of the network.</summary>
    internal delegate HttpResponseMessage Script(string path, Fields body);

    /// <summary>A machine with a folder, a clock, and a service that answers as a test wants. Its tokens are those of the conformance vectors.</summary>
    internal sealed class World : HttpMessageHandler
    {
        internal const string Key = "LK-FXWD4-JFB0X-HF411-XFMTT-GMAD0", Activation = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e";
        private static readonly Dictionary<string, List<Fields>> Read = new Dictionary<string, List<Fields>>();

        internal readonly string Folder;
        internal readonly List<string> Requests = new List<string>();
        internal readonly List<string> Problems = new List<string>();
        internal DateTimeOffset Now = Clock.ToTime(1800000000000);
        internal Script Script = (path, body) => throw new HttpRequestException("connection refused");

        internal World(string folder = null)
        {
            Folder = folder ?? Path.Combine(Path.GetTempPath(), "latchkey-test-" + Guid.NewGuid(), "kept");
        }

        internal Options Options
        {
            get
            {
                Fields vector = Vector("an entitlement");
                return new Options
                {
                    Service = "https://license.example.com",
                    Issuer = Json.Text(vector, "issuer"),
                    Products = new[] { "studio", "solo" },
                    PublicKeys = Json.Write(Json.Of("keys", vector["public_keys"])),
                    Folder = Folder,
                    AppVersion = "2.4.0",
                    Machine = Json.Of("machine_id", vector["machine_id"]),
                    Handler = this,
                    Now = () => Now,
                    OnProblem = problem => { lock (Problems) Problems.Add(problem.Code); },
                };
            }
        }

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken stop)
        {
            string text = request.Content == null ? "{}" : await request.Content.ReadAsStringAsync().ConfigureAwait(false);
            lock (Requests) Requests.Add(request.Method + " " + request.RequestUri.AbsolutePath);
            return Script(request.RequestUri.AbsolutePath, (Fields)Json.Parse(text));
        }

        /// <summary>A client disposes of its handler only if that is its own.</summary>
        protected override void Dispose(bool disposing)
        {
            throw new InvalidOperationException("the handler of the program was disposed of");
        }

        internal Latchkey Open()
        {
            return Latchkey.Open(Options);
        }

        /// <summary>Opens a client, activates it, and forgets the request.</summary>
        internal Latchkey OpenActivated()
        {
            Latchkey client = Open();
            Script = (path, body) => Activated();
            Suite.Equal(client.ActivateAsync(Key).Result.Ok, true);
            Requests.Clear();
            return client;
        }

        internal static HttpResponseMessage Raw(int status, string body, string type = "application/json")
        {
            return new HttpResponseMessage((HttpStatusCode)status) { Content = new StringContent(body, Encoding.UTF8, type) };
        }

        internal static HttpResponseMessage Answer(object body)
        {
            return Raw(200, Json.Write(body));
        }

        internal static HttpResponseMessage Page(int status)
        {
            return Raw(status, "<html>Please sign in</html>", "text/html");
        }

        internal static HttpResponseMessage Refusal(int status, string code)
        {
            return Raw(status, Json.Write(Json.Of("status", status, "code", code)), "application/problem+json");
        }

        internal static HttpResponseMessage Activated(string token = "an entitlement")
        {
            return Answer(Json.Of("activation_id", Activation, "license_key", Key, "status", "active", "valid", true, "entitlement", Token(token)));
        }

        internal static string Token(string name)
        {
            return Json.Text(Vector(name), "token");
        }

        /// <summary>Returns the vector of a token, by its name.</summary>
        internal static Fields Vector(string name)
        {
            return Vectors("tokens").First(each => Json.Text(each, "name") == name);
        }

        internal static List<Fields> Vectors(string file)
        {
            if (Read.TryGetValue(file, out List<Fields> vectors)) return vectors;
            string text = File.ReadAllText("../conformance/vectors/" + file + ".json");
            return Read[file] = ((List<object>)Json.Parse(text)).Cast<Fields>().ToList();
        }

        internal static string Fixture(string name)
        {
            return File.ReadAllText("../typescript/test/fixtures/" + name);
        }

        /// <summary>
        /// Replaces a file by a link to itself, which not even root can read. Calling the result moves the file back, and fails if the link was replaced.
        /// </summary>
        internal Action MakeUnreadable(string name)
        {
            string file = Path.Combine(Folder, name), moved = file + ".moved";
            File.Move(file, moved);
            if (symlink(name, file) != 0) throw new IOException("could not create a link");
            return () =>
            {
                if ((long)readlink(file, new byte[64], (IntPtr)64) < 0) throw new IOException("the link was replaced");
                File.Delete(file);
                File.Move(moved, file);
            };
        }

        [DllImport("libc", SetLastError = true)]
        private static extern int symlink([MarshalAs(UnmanagedType.LPStr)] string target, [MarshalAs(UnmanagedType.LPStr)] string path);

        [DllImport("libc", SetLastError = true)]
        private static extern IntPtr readlink([MarshalAs(UnmanagedType.LPStr)] string path, byte[] buffer, IntPtr size);

        internal Fields Kept
        {
            get { return (Fields)Json.Parse(File.ReadAllText(Path.Combine(Folder, "license.json"))); }
            set { File.WriteAllText(Path.Combine(Folder, "license.json"), Json.Write(value)); }
        }
    }
}
