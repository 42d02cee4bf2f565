using System;
using System.Diagnostics;
using System.Globalization;

namespace LatchkeyClient
{
    /// <summary>Runs all tests: <c>sh test/run.sh FOLDER</c>.</summary>
    internal static class Tests
    {
        private static void Main(string[] arguments)
        {
            if (arguments.Length > 0)
            {
                PrintFirstOpen(arguments[0]);
                return;
            }
            Suite suite = new Suite();
            suite.Test("the state is ready from disk in less than 5 ms, and an offline check takes less than 1 ms", MeasureSpeed);
            RulesTests.AddTo(suite);
            FilesTests.AddTo(suite);
            LateFileTests.AddTo(suite);
            EventsTests.AddTo(suite);
            ClientTests.AddTo(suite);
            FaultsTests.AddTo(suite);
            Host.Exit(suite.Finish());
        }

        /// <summary>Opens a client once, in a process that has compiled nothing of it yet, and prints how long that took.</summary>
        private static void PrintFirstOpen(string folder)
        {
            Options options = new World(folder).Options;
            Console.Write(BestMs(1, () => Suite.Equal(Latchkey.Open(options).State.Kind, Kind.Licensed)).ToString("0", CultureInfo.InvariantCulture));
            Host.Exit(0);
        }

        /// <summary>Other programs disturb a measurement, so that the best of many counts.</summary>
        private static void MeasureSpeed()
        {
            World world = new World();
            world.OpenActivated();
            Options options = world.Options;
            string first = MachineReader.Run("mono", typeof(Tests).Assembly.Location + " " + world.Folder);
            double open = BestMs(300, () => Suite.Equal(Latchkey.Open(options).State.Kind, Kind.Licensed));
            Latchkey client = Latchkey.Open(options);
            double check = BestMs(300, () => Suite.Equal(client.Has("gpu"), true));
            const string Format = "open: {0} ms in a new process, {1:0.00} ms in one that runs; check: {2:0.0000} ms";
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, Format, first, open, check));
            Suite.IsTrue(open < 5, "opening takes " + open + " ms");
            Suite.IsTrue(check < 1, "an offline check takes " + check + " ms");
        }

        private static double BestMs(int times, Action work)
        {
            double best = double.MaxValue;
            for (int i = 0; i < times; i++)
            {
                Stopwatch watch = Stopwatch.StartNew();
                work();
                best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
            }
            return best;
        }
    }
}
