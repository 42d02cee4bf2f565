using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using LatchkeyClient;

/// <summary>Shows the view in a terminal: it reads a command from each line, as a window has buttons.</summary>
internal static class Program
{
    internal static void Main(string[] arguments)
    {
        RunAsync().GetAwaiter().GetResult();
    }

    private static async Task RunAsync()
    {
        Latchkey latchkey = Latchkey.Open(Settings.Read());
        // A terminal has no thread of its own for what it shows.
        LicenseView view = new LicenseView(latchkey, work => work());
        latchkey.KeepChecking();
        Show(view);
        for (string line = Console.ReadLine(); line != null && line != "quit"; line = Console.ReadLine())
        {
            string[] words = line.Split(new[] { ' ' }, 2);
            await DoAsync(view, words[0], words.Length > 1 ? words[1] : "");
            Show(view);
        }
        await latchkey.CloseAsync();
    }

    private static Task DoAsync(LicenseView view, string command, string argument)
    {
        switch (command)
        {
            case "key": return view.ActivateAsync(argument);
            case "trial": return view.StartTrialAsync();
            case "check": return view.CheckAsync();
            case "free": return FreeAsync(view, argument);
            case "deactivate": return view.DeactivateAsync();
            case "export":
                Console.WriteLine(view.Export());
                return Task.FromResult(true);
            default:
                Console.WriteLine("Commands: key KEY, trial, check, free NUMBER, deactivate, export, quit");
                return Task.FromResult(true);
        }
    }

    private static Task FreeAsync(LicenseView view, string number)
    {
        bool exists = int.TryParse(number, out int index) && index >= 1 && index <= view.Machines.Count;
        return exists ? view.MoveHereAsync(view.Machines[index - 1]) : Task.FromResult(true);
    }

    private static void Show(LicenseView view)
    {
        Console.WriteLine("== " + view.Title + " ==\n" + view.Text);
        if (view.Message != "") Console.WriteLine("! " + view.Message);
        foreach (Machine each in view.Machines.Where(machine => machine.IsActive))
        {
            int number = view.Machines.ToList().IndexOf(each) + 1;
            Console.WriteLine(number + ": " + (each.OsVersion ?? "unknown system") + ", last used " + each.LastValidatedAt?.ToString("yyyy-MM-dd"));
        }
    }
}

/// <summary>What your program compiles in.</summary>
internal static class Settings
{
    // The document of /.well-known/jwks.json of your service, so that it needs no download.
    private const string PublicKeys = "{\"keys\":[]}";

    internal static Options Read()
    {
        string service = Find("LICENSE_SERVICE", "http://127.0.0.1:8080");
        string data = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData);
        return new Options
        {
            Service = service,
            Issuer = Find("LICENSE_ISSUER", service),
            Products = new[] { "personal", "sellers" },
            PublicKeys = PublicKeys,
            Folder = Find("LICENSE_FOLDER", Path.Combine(data, "PictureExporter")),
            AppVersion = "1.0.0",
            OnProblem = problem => Console.Error.WriteLine(problem.Code + ": " + problem.Message),
        };
    }

    private static string Find(string name, string otherwise)
    {
        return Environment.GetEnvironmentVariable(name) ?? otherwise;
    }
}
