using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>Answers the commands of the conformance run, one JSON line each, with this client.</summary>
    internal static class Driver
    {
        private static readonly string[] Reported = { "file_damaged", "folder_unwritable" };
        private static readonly ConcurrentQueue<string> Problems = new ConcurrentQueue<string>();
        private static readonly Dictionary<string, Func<Fields, Result>> Calls = new Dictionary<string, Func<Fields, Result>>
        {
            ["activate"] = command => client.ActivateAsync(Json.Text(command, "key")).Result,
            ["trial"] = command => client.StartTrialAsync().Result,
            ["check"] = command => client.CheckAsync((Trigger)Enum.Parse(typeof(Trigger), Json.Text(command, "trigger"), true)).Result,
            ["machines"] = command => client.MachinesAsync().Result,
            ["move_here"] = command => client.MoveHereAsync(Json.Text(command, "activation_id")).Result,
            ["deactivate"] = command => client.DeactivateAsync().Result,
            ["offline_request"] = command => client.OfflineRequestAsync(Json.Text(command, "product"), Json.Text(command, "name")).Result,
            ["accept_offline"] = command => client.AcceptOfflineAsync(Json.Text(command, "text")).Result,
        };

        private static Latchkey client;
        private static long? nowMs;

        private static void Main()
        {
            UTF8Encoding utf8 = new UTF8Encoding(false);
            StreamReader input = new StreamReader(Console.OpenStandardInput(), utf8);
            StreamWriter output = new StreamWriter(Console.OpenStandardOutput(), utf8) { AutoFlush = true, NewLine = "\n" };
            for (string line = input.ReadLine(); line != null; line = input.ReadLine())
            {
                Fields command = (Fields)Json.Parse(line);
                output.WriteLine(Json.Write(AnswerTo(command)));
                if (Json.Text(command, "do") == "close") Host.Exit(0);
            }
        }

        private static Fields AnswerTo(Fields command)
        {
            string name = Json.Text(command, "do");
            if (Calls.TryGetValue(name, out Func<Fields, Result> call))
            {
                Fields result = Render(call(command), name), answer = ShowState();
                answer["result"] = result;
                return answer;
            }
            switch (name)
            {
                case "hello": return Json.Of("client", "csharp", "version", Latchkey.Version, "supports", Calls.Keys.ToList<object>());
                case "open": return Open(command);
                case "clock": return SetClock(command);
                case "state": return ShowState();
                case "explain": return Json.Of("text", client.Explain());
                case "verify": return Json.Of("verdict", Verify(command));
                case "key": return Render(TypedKey.Read(Json.Text(command, "text")));
                case "clock_steps": return Json.Of("steps", StepClock((List<object>)command["steps"]));
                case "fingerprint": return Json.Of("machine_id", ReadPrinted(Json.Text(command, "source"), Json.Text(command, "text")));
                case "close": return Close();
                default: return Json.Of("unsupported", true);
            }
        }

        private static Fields Open(Fields command)
        {
            nowMs = Json.Integer(command, "now_ms");
            client = Latchkey.Open(new Options
            {
                Service = Json.Text(command, "service"),
                Issuer = Json.Text(command, "issuer"),
                Products = Json.Texts(Json.Member(command, "products")),
                PublicKeys = Json.Write(Json.Of("keys", Tokens.ReadKeys(Json.Member(command, "public_keys")))),
                Folder = Json.Text(command, "folder"),
                AppVersion = Json.Text(command, "app_version"),
                Machine = (Fields)Json.Member(command, "machine"),
                Timeout = TimeSpan.FromMilliseconds(Json.Integer(command, "timeout_ms").Value),
                Now = () => nowMs == null ? DateTimeOffset.UtcNow : Clock.ToTime(nowMs.Value),
                OnProblem = Note,
            });
            return ShowState();
        }

        private static void Note(Problem problem)
        {
            Console.Error.WriteLine(problem.Code + ": " + problem.Message);
            if (Reported.Contains(problem.Code)) Problems.Enqueue(problem.Code);
        }

        private static Fields SetClock(Fields command)
        {
            nowMs = Json.Integer(command, "now_ms");
            return ShowState();
        }

        private static Fields Render(Result result, string call)
        {
            Fields shown = Json.Of("ok", result.Ok);
            if (!result.Ok) shown["code"] = result.Code;
            if (result.Cause != null) shown["cause"] = Lower(result.Cause);
            if (result.Max != null) shown["max"] = result.Max;
            if (result.Current != null) shown["current"] = result.Current;
            if (result.AvailableAt != null) shown["available_at"] = Clock.Format(result.AvailableAt.Value);
            if (result.Request != null) shown["request"] = result.Request;
            if (result.Ok && call == "machines") shown["machines"] = result.Machines.Select(Render).ToList<object>();
            return shown;
        }

        private static Fields Render(Machine machine)
        {
            return Json.Of("activation_id", machine.ActivationId, "is_active", machine.IsActive, "is_this", machine.IsThis);
        }

        private static Fields Render(TypedKey read)
        {
            return Json.Of("key", read.Verdict == "mistyped" ? null : read.Key, "verdict", read.Verdict);
        }

        private static Fields ShowState()
        {
            LicenseState state = client.State;
            Fields shown = Json.Of("may_run", state.MayRun, "kind", Lower(state.Kind), "reason", state.Reason, "tier", state.Tier,
                "features", state.Features, "until", Render(state.Until), "days_left", state.DaysLeft, "source", state.IsAnswered ? "service" : "kept",
                "last_answer_at", Render(state.LastAnswerAt), "clock_went_back", state.ClockWentBack);
            Fields answer = Json.Of("state", shown);
            List<object> problems = new List<object>();
            while (Problems.TryDequeue(out string problem)) problems.Add(problem);
            if (problems.Count > 0) answer["problems"] = problems;
            return answer;
        }

        private static string Render(DateTimeOffset? time)
        {
            return time == null ? null : Clock.Format(time.Value);
        }

        private static string Lower(object value)
        {
            return value.ToString().ToLowerInvariant();
        }

        private static string Verify(Fields command)
        {
            Trust trust = new Trust
            {
                Keys = Tokens.ReadKeys(Json.Member(command, "public_keys")),
                Issuer = Json.Text(command, "issuer"),
                Products = Json.Texts(Json.Member(command, "products")),
                MachineId = Json.Text(command, "machine_id"),
            };
            return Tokens.Verify(Json.Text(command, "token"), trust, Json.Integer(command, "now_ms").Value, Json.Text(command, "nonce"));
        }

        private static List<object> StepClock(List<object> steps)
        {
            Clock clock = new Clock(0, 0);
            List<object> readings = new List<object>();
            foreach (object step in steps)
            {
                long deviceMs = Json.Integer(step, "device_ms").Value;
                long? serviceMs = Json.Integer(step, "service_ms");
                if (serviceMs != null) clock = clock.Learn(deviceMs, serviceMs.Value);
                readings.Add(Json.Of("now_ms", clock.Now(deviceMs), "clock_went_back", clock.WentBack(deviceMs)));
            }
            return readings;
        }

        private static string ReadPrinted(string source, string text)
        {
            if (source == "machine-id") return MachineReader.ReadMachineIdFile(text);
            return source == "reg.exe" ? MachineReader.ReadRegistryOutput(text) : MachineReader.ReadIoregOutput(text);
        }

        private static Fields Close()
        {
            if (client != null) client.CloseAsync().Wait();
            return new Fields();
        }
    }
}
