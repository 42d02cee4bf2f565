using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>Sends requests of JSON. Every failure is an answer that changes nothing.</summary>
    internal sealed class Network
    {
        private const int MaxBodyBytes = 1000000;
        private readonly HttpClient client;
        private readonly string service;
        private readonly TimeSpan timeout;

        internal Network(HttpMessageHandler handler, string service, TimeSpan timeout)
        {
            this.service = service;
            this.timeout = timeout;
            bool isOurs = handler == null;
            client = new HttpClient(handler ?? new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false }, isOurs);
            client.Timeout = Timeout.InfiniteTimeSpan;
        }

        /// <summary>Whether keys that arrive from the service are trusted: https, or this computer.</summary>
        internal bool IsTrustworthy
        {
            get
            {
                Uri uri = new Uri(service);
                return uri.Scheme == "https" || Regex.IsMatch(uri.Host, @"\A(?:localhost|127(?:\.[0-9]+){3}|\[::1\])\z");
            }
        }

        internal static bool IsWebAddress(string text)
        {
            return Uri.TryCreate(text, UriKind.Absolute, out Uri uri) && (uri.Scheme == "http" || uri.Scheme == "https");
        }

        /// <summary>Sends a request once: POST with a body, GET without one. The time limits it as a whole, also if a handler ignores its token.</summary>
        internal async Task<Answer> AskAsync(string path, object body = null)
        {
            using (CancellationTokenSource stop = new CancellationTokenSource())
            {
                Task<Answer> asked = ExchangeAsync(path, body, stop.Token);
                Task late = Task.Delay(timeout, stop.Token);
                bool isLate = await Task.WhenAny(asked, late).ConfigureAwait(false) == late;
                stop.Cancel();
                return isLate ? Answer.Silent(Cause.Timeout, "no answer in " + timeout.TotalMilliseconds + " ms") : await asked.ConfigureAwait(false);
            }
        }

        private async Task<Answer> ExchangeAsync(string path, object body, CancellationToken stop)
        {
            try
            {
                using (HttpRequestMessage request = new HttpRequestMessage(body == null ? HttpMethod.Get : HttpMethod.Post, service + path))
                {
                    request.Headers.ExpectContinue = false;
                    if (body != null) request.Content = new StringContent(Json.Write(body), Encoding.UTF8, "application/json");
                    Task<HttpResponseMessage> sent = client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, stop);
                    using (HttpResponseMessage response = await sent.ConfigureAwait(false))
                    {
                        return Answer.Of(await ReceiveAsync(response, stop).ConfigureAwait(false));
                    }
                }
            }
            catch (Exception error)
            {
                return Answer.Silent(FindCause(error), Describe(error));
            }
        }

        private static async Task<Received> ReceiveAsync(HttpResponseMessage response, CancellationToken stop)
        {
            return new Received
            {
                Status = (int)response.StatusCode,
                ContentType = HeaderOf(response, "Content-Type"),
                Date = HeaderOf(response, "Date"),
                RetryAfter = HeaderOf(response, "Retry-After"),
                Body = response.Content == null ? "" : await ReadAsync(response.Content, stop).ConfigureAwait(false),
            };
        }

        private static string HeaderOf(HttpResponseMessage response, string name)
        {
            bool has = response.Headers.TryGetValues(name, out IEnumerable<string> values)
                || (response.Content != null && response.Content.Headers.TryGetValues(name, out values));
            return has ? values.FirstOrDefault() : null;
        }

        /// <summary>Returns null if the body is too large.</summary>
        private static async Task<string> ReadAsync(HttpContent content, CancellationToken stop)
        {
            byte[] buffer = new byte[8192];
            using (MemoryStream received = new MemoryStream())
            using (Stream stream = await content.ReadAsStreamAsync().ConfigureAwait(false))
            {
                for (;;)
                {
                    int count = await stream.ReadAsync(buffer, 0, buffer.Length, stop).ConfigureAwait(false);
                    if (count == 0) return Encoding.UTF8.GetString(received.ToArray());
                    received.Write(buffer, 0, count);
                    if (received.Length > MaxBodyBytes) return null;
                }
            }
        }

        /// <summary>Finds why a request failed.</summary>
        private static Cause FindCause(Exception error)
        {
            for (Exception each = error; each != null; each = each.InnerException)
            {
                SocketError socket = (each as SocketException)?.SocketErrorCode ?? SocketError.Success;
                WebExceptionStatus web = (each as WebException)?.Status ?? WebExceptionStatus.Success;
                if (NameErrors.Contains(socket) || web == WebExceptionStatus.NameResolutionFailure) return Cause.Dns;
                if (each is AuthenticationException || TlsErrors.Contains(web)) return Cause.Tls;
                if (socket == SocketError.TimedOut || web == WebExceptionStatus.Timeout) return Cause.Timeout;
                if (Regex.IsMatch(each.Message, "proxy|tunnel", RegexOptions.IgnoreCase)) return Cause.Proxy;
            }
            return Cause.Connection;
        }

        private static readonly SocketError[] NameErrors = { SocketError.HostNotFound, SocketError.NoData, SocketError.TryAgain, SocketError.NoRecovery };
        private static readonly WebExceptionStatus[] TlsErrors = { WebExceptionStatus.TrustFailure, WebExceptionStatus.SecureChannelFailure };

        /// <summary>Returns kinds and messages of an error and of what caused it.</summary>
        internal static string Describe(Exception error)
        {
            List<string> texts = new List<string>();
            for (Exception each = error; each != null && texts.Count < 5; each = each.InnerException) texts.Add(each.GetType().Name + ": " + each.Message);
            return string.Join("; ", texts);
        }

        /// <summary>The addresses of this computer: a change means another network, or the return of one. Null: they are not known.</summary>
        internal static string DescribeAddresses()
        {
            try
            {
                IEnumerable<string> addresses = NetworkInterface.GetAllNetworkInterfaces().Where(each => each.OperationalStatus == OperationalStatus.Up)
                    .SelectMany(each => each.GetIPProperties().UnicastAddresses).Select(each => each.Address.ToString());
                return string.Join(" ", addresses.OrderBy(each => each, StringComparer.Ordinal));
            }
            catch (Exception)
            {
                // Some systems forbid it.
                return null;
            }
        }

        internal void Close()
        {
            client.Dispose();
        }
    }

    /// <summary>Files that only this user reads, and that are replaced as a whole.</summary>
    internal static class Files
    {
        /// <summary>Returns the text of a file; null if there is none. It throws if the file cannot be read.</summary>
        internal static string Read(string path)
        {
            try
            {
                return File.ReadAllText(path, new UTF8Encoding(false));
            }
            catch (IOException error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
        }

        /// <summary>Writes a file beside, flushes it, and renames it, so that a process that is killed leaves the old one or the new one.</summary>
        internal static string Replace(string path, string text)
        {
            string temporary = path + "." + Process.GetCurrentProcess().Id + "." + Guid.NewGuid().ToString("N") + ".tmp";
            Directory.CreateDirectory(Path.GetDirectoryName(path));
            try
            {
                using (FileStream file = new FileStream(temporary, FileMode.CreateNew, FileAccess.Write))
                {
                    Restrict(temporary);
                    byte[] bytes = Encoding.UTF8.GetBytes(text);
                    file.Write(bytes, 0, bytes.Length);
                    file.Flush(true);
                }
                Rename(temporary, path);
                return path;
            }
            finally
            {
                if (File.Exists(temporary)) File.Delete(temporary);
            }
        }

        /// <summary>More than writing takes, and than the clocks of a network differ.</summary>
        private static readonly TimeSpan TemporaryLifetime = TimeSpan.FromHours(1);

        /// <summary>Removes the temporary files that killed programs left. Nothing is lost if they stay.</summary>
        internal static void RemoveOldTemporaries(string folder)
        {
            try
            {
                foreach (string start in new[] { "license.json", "events.jsonl" })
                {
                    foreach (string path in Directory.GetFiles(folder, start + ".*.tmp"))
                    {
                        if (File.GetLastWriteTimeUtc(path) < DateTime.UtcNow - TemporaryLifetime) File.Delete(path);
                    }
                }
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // The folder does not exist yet, or another program removes them at the same time.
            }
        }

        /// <summary>Keeps a damaged file for support, and out of the way.</summary>
        internal static string SetAside(string path)
        {
            string aside = path + ".damaged";
            Rename(path, aside);
            return aside;
        }

        internal static void Append(string path, string line)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path));
            bool isNew = !File.Exists(path);
            using (FileStream file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite))
            {
                if (isNew) Restrict(path);
                byte[] bytes = Encoding.UTF8.GetBytes(line);
                file.Write(bytes, 0, bytes.Length);
            }
        }

        private static void Rename(string from, string to)
        {
            Retry(() =>
            {
                if (!IsWindows && rename(from, to) == 0) return to;
                if (File.Exists(to)) File.Replace(from, to, null);
                else File.Move(from, to);
                return to;
            });
        }

        /// <summary>Tries again within 200 ms: a virus scanner may hold a file, or too many files be open, for a moment.</summary>
        internal static T Retry<T>(Func<T> work)
        {
            for (int tries = 1; ; tries++)
            {
                try
                {
                    return work();
                }
                catch (Exception error) when (tries < 5 && (error is IOException || error is UnauthorizedAccessException))
                {
                    Thread.Sleep(20 * tries);
                }
            }
        }

        private static bool IsWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

        /// <summary>Lets only the user read a file; on Windows, the folder of the user does that.</summary>
        private static void Restrict(string path)
        {
            const int OwnerOnly = 0x180;
            if (!IsWindows && chmod(path, OwnerOnly) != 0) throw new IOException("could not restrict " + path);
        }

        // .NET Standard 2.0 has neither of these; File.Replace is not atomic everywhere.
        [DllImport("libc", SetLastError = true)]
        private static extern int chmod([MarshalAs(UnmanagedType.LPStr)] string path, int mode);

        [DllImport("libc", SetLastError = true)]
        private static extern int rename([MarshalAs(UnmanagedType.LPStr)] string from, [MarshalAs(UnmanagedType.LPStr)] string to);
    }

    /// <summary>The identity of this machine, as its system prints it.</summary>
    internal static class MachineReader
    {
        /// <summary>Where readings come from. Both functions return an empty text if they fail.</summary>
        internal sealed class Sources
        {
            internal OSPlatform System { get; set; }
            internal string SystemRoot { get; set; }
            internal Func<string, string, string> Run { get; set; }
            internal Func<string, string> Read { get; set; }
        }

        internal static Fields ReadOwn()
        {
            OSPlatform[] others = { OSPlatform.Windows, OSPlatform.OSX };
            OSPlatform system = others.Where(RuntimeInformation.IsOSPlatform).DefaultIfEmpty(OSPlatform.Linux).First();
            string root = Environment.GetEnvironmentVariable("SystemRoot") ?? @"C:\Windows";
            return Read(new Sources { System = system, SystemRoot = root, Run = Run, Read = ReadFile });
        }

        /// <summary>Reads the identity of a machine without a shell; null if it has none.</summary>
        internal static Fields Read(Sources sources)
        {
            if (sources.System == OSPlatform.Windows)
            {
                // The full path, because a folder of the user may precede in PATH; /reg:64, because a 32-bit program would read another part.
                const string Query = @"query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid /reg:64";
                return Named(ReadRegistryOutput(sources.Run(sources.SystemRoot + @"\System32\reg.exe", Query)));
            }
            if (sources.System == OSPlatform.OSX) return Named(ReadIoregOutput(sources.Run("/usr/sbin/ioreg", "-rd1 -c IOPlatformExpertDevice")));
            string id = ReadMachineIdFile(sources.Read("/etc/machine-id")) ?? ReadMachineIdFile(sources.Read("/var/lib/dbus/machine-id"));
            Fields machine = Named(id);
            string serial = sources.Read("/sys/class/dmi/id/board_serial").Trim();
            if (machine != null && !Placeholder.IsMatch(serial)) machine["board_serial"] = serial;
            return machine;
        }

        /// <summary>Reads a fingerprint: texts and lists of texts; null without a machine_id.</summary>
        internal static Fields ReadFingerprint(object value)
        {
            if (string.IsNullOrEmpty(Json.Text(value, "machine_id"))) return null;
            return ((Fields)value).Where(each => each.Value is string || (each.Value is IEnumerable<object> list && list.All(item => item is string)))
                .ToDictionary(each => each.Key, each => each.Value);
        }

        private static Fields Named(string machineId)
        {
            return machineId == null ? null : Json.Of("machine_id", machineId);
        }

        internal static string Run(string program, string arguments)
        {
            try
            {
                ProcessStartInfo start = new ProcessStartInfo(program, arguments)
                {
                    UseShellExecute = false, CreateNoWindow = true, RedirectStandardOutput = true, RedirectStandardError = true,
                };
                using (Process process = Process.Start(start))
                {
                    Task<string> output = process.StandardOutput.ReadToEndAsync();
                    bool hasEnded = process.WaitForExit(5000);
                    if (!hasEnded) process.Kill();
                    return hasEnded && process.ExitCode == 0 && output.Wait(1000) ? output.Result : "";
                }
            }
            catch (Exception)
            {
                // A policy forbids the program, or it does not exist.
                return "";
            }
        }

        private static string ReadFile(string path)
        {
            try
            {
                return Files.Read(path) ?? "";
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // Usually only root may read the serial number.
                return "";
            }
        }

        /// <summary>What vendors of boards write instead of a number.</summary>
        private static readonly Regex Placeholder = new Regex(@"\A(?:default string|to be filled by o\.e\.m\.?|not (?:specified|applicable|available)"
            + @"|none|n/a|system serial number|board serial number|0+|x+|[-. ]*)\z", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);

        /// <summary>Reads what <c>reg.exe query</c> prints, in any language of Windows.</summary>
        internal static string ReadRegistryOutput(string output)
        {
            return FindFirst(@"^[ \t]*MachineGuid[ \t]+REG_SZ[ \t]+([A-Za-z0-9_{}-]+)[ \t]*\r?$", output);
        }

        internal static string ReadIoregOutput(string output)
        {
            return FindFirst("\"IOPlatformUUID\" = \"([A-Za-z0-9_-]+)\"", output);
        }

        private static string FindFirst(string pattern, string output)
        {
            Match found = Regex.Match(output, pattern, RegexOptions.Multiline);
            return found.Success ? found.Groups[1].Value : null;
        }

        /// <summary>Reads a machine id: 32 hexadecimal digits; null for anything else, such as <c>uninitialized</c> of an image.</summary>
        internal static string ReadMachineIdFile(string text)
        {
            string id = text.Trim().ToLowerInvariant();
            return Regex.IsMatch(id, @"\A[0-9a-f]{32}\z") && id.Trim('0') != "" ? id : null;
        }
    }

    /// <summary>Random values.</summary>
    internal static class Chance
    {
        internal static byte[] Bytes(int count)
        {
            byte[] bytes = new byte[count];
            using (RandomNumberGenerator generator = RandomNumberGenerator.Create()) generator.GetBytes(bytes);
            return bytes;
        }

        /// <summary>Returns a UUID that begins with a time (RFC 9562, version 7), so that neighbours in time are neighbours in an index.</summary>
        internal static string TimeUuid(long ms)
        {
            string random = BitConverter.ToString(Bytes(10)).Replace("-", "").ToLowerInvariant();
            string digits = ms.ToString("x12", CultureInfo.InvariantCulture) + "7" + random.Substring(0, 3) + "a" + random.Substring(3, 15);
            return Regex.Replace(digits, "^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5");
        }
    }
}
