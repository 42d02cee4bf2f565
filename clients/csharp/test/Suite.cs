using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace LatchkeyClient
{
    /// <summary>Runs tests one after the other, and prints those that fail.</summary>
    internal sealed class Suite
    {
        private readonly List<string> failed = new List<string>();
        private int passed;

        internal void Test(string name, Action body)
        {
            try
            {
                body();
                passed++;
            }
            catch (Exception error)
            {
                failed.Add(name);
                Console.Error.WriteLine("FAILED: " + name + "\n" + error);
            }
        }

        internal static void Equal(object actual, object expected)
        {
            if (Render(actual) != Render(expected)) throw new InvalidOperationException("expected " + Render(expected) + ", but was " + Render(actual));
        }

        internal static void IsTrue(bool condition, string what)
        {
            if (!condition) throw new InvalidOperationException(what);
        }

        private static string Render(object value)
        {
            if (value is string || !(value is IEnumerable items)) return value?.ToString() ?? "null";
            return "[" + string.Join(", ", items.Cast<object>().Select(Render)) + "]";
        }

        /// <summary>Prints the numbers, and returns the exit code.</summary>
        internal int Finish()
        {
            Console.WriteLine(passed + " passed, " + failed.Count + " failed" + (failed.Count == 0 ? "" : ": " + string.Join(", ", failed)));
            return failed.Count == 0 && passed > 0 ? 0 : 1;
        }
    }
}
