using System;
using System.Collections.Generic;
using System.IO;
using System.Threading.Tasks;
using LatchkeyClient;

/// <summary>A program with a license: <c>mono example.exe help</c> lists what it does.</summary>
internal static class Program
{
    // Compile in the document of /.well-known/jwks.json of your service.
    private const string PublicKeys = "{\"keys\":[]}";

    private static Latchkey latchkey;

    private static readonly Dictionary<string, Func<string, Task>> Commands = new Dictionary<string, Func<string, Task>>
    {
        ["state"] = _ => Task.Run(() => Console.WriteLine(Describe(latchkey.State))),
        ["activate"] = async key => Report(await latchkey.ActivateAsync(key)),
        ["trial"] = async _ => Report(await latchkey.StartTrialAsync()),
        ["check"] = async _ => Report(await latchkey.CheckAsync()),
        ["machines"] = async _ => List(await latchkey.MachinesAsync()),
        ["move"] = async activationId => Report(await latchkey.MoveHereAsync(activationId)),
        ["deactivate"] = async _ => Report(await latchkey.DeactivateAsync()),
        ["explain"] = _ => Task.Run(() => Console.Write(latchkey.Explain())),
        ["help"] = _ => Task.Run(() => Console.WriteLine("Commands: " + string.Join(", ", Commands.Keys))),
    };

    internal static void Main(string[] arguments)
    {
        string service = Setting("LICENSE_SERVICE", "http://127.0.0.1:8080");
        string data = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData);
        latchkey = Latchkey.Open(new Options
        {
            Service = service,
            Issuer = Setting("LICENSE_ISSUER", service),
            Products = new[] { "personal", "sellers" },
            PublicKeys = PublicKeys,
            Folder = Setting("LICENSE_FOLDER", Path.Combine(data, "ExampleProgram")),
            AppVersion = "1.0.0",
            OnProblem = problem => Console.Error.WriteLine(problem.Code + ": " + problem.Message),
        });
        string command = arguments.Length > 0 && Commands.ContainsKey(arguments[0]) ? arguments[0] : arguments.Length > 0 ? "help" : "state";
        Commands[command](arguments.Length > 1 ? arguments[1] : "").Wait();
        latchkey.CloseAsync().Wait();
    }

    private static string Setting(string name, string otherwise)
    {
        return Environment.GetEnvironmentVariable(name) ?? otherwise;
    }

    private static void Report(Result result)
    {
        if (result.Ok) Console.WriteLine(Describe(latchkey.State));
        else if (result.Cause != null) Console.WriteLine("No answer of the service: " + result.Cause + ".");
        else Console.WriteLine("Refused: " + result.Code + ".");
    }

    private static void List(Result result)
    {
        if (!result.Ok) Report(result);
        foreach (Machine machine in result.Machines)
        {
            string status = machine.IsActive ? "active" : "free";
            Console.WriteLine(machine.ActivationId + "  " + status + (machine.IsThis ? "  (this one)" : ""));
        }
    }

    private static string Describe(LicenseState state)
    {
        if (state.Kind == Kind.Licensed) return "Licensed: " + state.Tier + ". Runs without a network for " + state.DaysLeft + " days.";
        if (state.Kind == Kind.Trial) return "Trial: " + state.DaysLeft + " days left.";
        return state.Reason == "not_activated" ? "No license yet: activate KEY, or trial." : "May not run: " + state.Reason + ".";
    }
}
