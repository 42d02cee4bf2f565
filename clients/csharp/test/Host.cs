using System;
using System.Runtime.InteropServices;

/// <summary>
/// Ends a process at once when its Main has returned: Mono 6.8 sometimes waits for ever for threads of its pool then, about once in a
/// hundred programs with requests.
/// </summary>
internal static class Host
{
    [DllImport("libc", EntryPoint = "_exit")]
    private static extern void ExitAtOnce(int code);

    internal static void Exit(int code)
    {
        Console.Out.Flush();
        ExitAtOnce(code);
    }
}
