using System;
using System.Collections.Generic;
using System.Threading;
using LatchkeyClient;

/// <summary>Tracks and sends events until it is killed, and prints each event that is kept.</summary>
internal static class TrackEvents
{
    private static void Main(string[] arguments)
    {
        string run = arguments[3];
        Latchkey latchkey = Latchkey.Open(new Options
        {
            Service = arguments[0], Issuer = "https://license.example.com", Products = new[] { "personal" }, PublicKeys = arguments[1], Folder = arguments[2],
            AppVersion = "2.4.0", Machine = new Dictionary<string, object> { ["machine_id"] = "killed" },
        });
        latchkey.SetSharingAsync(true).Wait();
        for (int count = 0; run != "last"; count++)
        {
            string name = run + "." + count;
            latchkey.Track("tracked", new Dictionary<string, object> { ["name"] = name });
            Console.WriteLine(name);
            if (count % 5 == 0) latchkey.FlushAsync();
            // The first request takes Mono a second, the time of some 25 events.
            Thread.Sleep(40);
        }
        Result sent = latchkey.FlushAsync().Result;
        Console.WriteLine(sent.Ok ? "sent " + sent.Sent + ", rejected " + sent.Rejected : sent.Code);
        Host.Exit(0);
    }
}
