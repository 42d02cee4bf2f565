/// <summary>Runs the Main of a program, and ends the process.</summary>
internal static class RunMain
{
    private static void Main(string[] arguments)
    {
        Program.Main(arguments);
        Host.Exit(0);
    }
}
