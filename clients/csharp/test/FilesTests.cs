using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>The kept file, and the identity of the machine in it.</summary>
    internal static class FilesTests
    {
        private const string Guid = "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8", Hex = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405";

        internal static void AddTo(Suite suite)
        {
            suite.Test("a damaged file is renamed and reported", () =>
            {
                foreach (string damaged in new[] { "", "[1]", "{\"key\":", "\0\0\0" })
                {
                    World world = new World();
                    Directory.CreateDirectory(world.Folder);
                    File.WriteAllText(Path.Combine(world.Folder, "license.json"), damaged);
                    Suite.Equal(world.Open().State.Reason, "not_activated");
                    Suite.Equal(world.Problems, new[] { "file_damaged" });
                    Suite.Equal(File.ReadAllText(Path.Combine(world.Folder, "license.json.damaged")), damaged);
                }
            });
            suite.Test("with a folder that cannot be written, the license and events work for this run", () =>
            {
                World world = new World();
                Directory.CreateDirectory(Path.GetDirectoryName(world.Folder));
                File.WriteAllText(world.Folder, "no folder");
                Latchkey client = world.OpenActivated();
                client.Track("opened");
                Suite.Equal(client.State.MayRun, true);
                string[] codes = { "folder_unwritable", "events_unwritable" };
                foreach (string code in codes) Suite.IsTrue(world.Problems.Contains(code), code + " was not reported");
            });
            suite.Test("reading is tried again while another program holds the file", () =>
            {
                int failures = 0;
                Exception[] held = { new IOException("held"), new UnauthorizedAccessException("held") };
                Suite.Equal(Files.Retry(() => failures < held.Length ? throw held[failures++] : "read"), "read");
                Suite.Equal(failures, 2);
            });
            suite.Test("fields of a newer version are kept, and fields of another type count as absent", () =>
            {
                World world = new World();
                world.OpenActivated();
                Fields kept = world.Kept;
                kept["theme"] = Json.Parse("[1.5,{\"a\":null}]");
                foreach (string name in new[] { "refused", "clock", "request" }) kept[name] = "noon";
                kept["release"] = Json.Of("key", 1);
                world.Kept = kept;
                Latchkey client = world.Open();
                Suite.Equal(client.State.Kind, Kind.Licensed);
                Suite.Equal(client.CheckAsync().Result.Ok, true);
                Suite.Equal(Json.Write(world.Kept["theme"]), "[1.5,{\"a\":null}]");
            });
            suite.Test("Windows: reads the registry by the full path of its program", () =>
            {
                const string Command = @"C:\Windows\System32\reg.exe query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid /reg:64";
                Suite.Equal(Read(OSPlatform.Windows, Command, World.Fixture("reg.txt")), "{\"machine_id\":\"" + Guid + "\"}");
                string[] without = { "reg-forbidden.txt", "reg-missing-de.txt" };
                foreach (string name in without) Suite.Equal(Read(OSPlatform.Windows, Command, World.Fixture(name)), "null");
            });
            suite.Test("macOS: reads the UUID of the hardware by the full path of the program", () =>
            {
                string read = Read(OSPlatform.OSX, "/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice", World.Fixture("ioreg.txt"));
                Suite.Equal(read, "{\"machine_id\":\"E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B\"}");
            });
            suite.Test("Linux: reads the machine id, or that of D-Bus, and the serial number of the board", () =>
            {
                const string Dmi = "/sys/class/dmi/id/board_serial", Alone = "{\"machine_id\":\"" + Hex + "\"}";
                Suite.Equal(Read(OSPlatform.Linux, "/etc/machine-id", Hex + "\n"), Alone);
                string both = Alone.Replace("}", ",\"board_serial\":\"CN7016355A\"}");
                Suite.Equal(Read(OSPlatform.Linux, "/var/lib/dbus/machine-id", Hex, Dmi, "CN7016355A\n"), both);
                foreach (string serial in new[] { "Default string", "To be filled by O.E.M.", "None", "0000", "xxx", ".", " " })
                {
                    Suite.Equal(Read(OSPlatform.Linux, "/etc/machine-id", Hex, Dmi, serial), Alone);
                }
                Suite.Equal(Read(OSPlatform.Linux, Dmi, "CN7016355A"), "null");
            });
            suite.Test("machine ids are read from what systems print", () =>
            {
                foreach (Fields each in World.Vectors("fingerprints"))
                {
                    string source = Json.Text(each, "source"), text = Json.Text(each, "text");
                    Func<string, string> read = source == "reg.exe" ? MachineReader.ReadRegistryOutput : (Func<string, string>)MachineReader.ReadIoregOutput;
                    Suite.Equal(source == "machine-id" ? MachineReader.ReadMachineIdFile(text) : read(text), each["machine_id"]);
                }
            });
            suite.Test("a program that fails or does not exist has no effect", () =>
            {
                Suite.Equal(MachineReader.Run("/no/such/program", ""), "");
                Suite.Equal(MachineReader.Run("/bin/false", ""), "");
                Suite.Equal(MachineReader.Run("/bin/echo", "read"), "read\n");
                Fields read = MachineReader.ReadOwn();
                Suite.IsTrue(read == null || Json.Text(read, "machine_id") != null, "no machine_id");
            });
            suite.Test("the last good reading is kept when a later one fails", () =>
            {
                World world = new World();
                world.OpenActivated();
                Func<IDictionary<string, object>>[] readers = { () => null, () => throw new IOException("no registry") };
                foreach (Func<IDictionary<string, object>> reader in readers)
                {
                    Latchkey client = Latchkey.Open(Reading(world, reader));
                    Suite.Equal(client.CheckAsync().Result.Ok, true);
                    Suite.Equal(client.State.Kind, Kind.Licensed);
                }
                Suite.IsTrue(world.Problems.Contains("machine_unreadable"), "was not reported");
            });
            suite.Test("a machine without an identity gets a random one, which stays while a license uses it", KeepGenerated);
        }

        private static void KeepGenerated()
        {
            World world = new World();
            Latchkey.Open(Reading(world, () => null)).CloseAsync().Wait();
            Fields kept = world.Kept;
            string generated = Json.Text(kept["machine"], "machine_id");
            Suite.IsTrue(generated.StartsWith("generated-", StringComparison.Ordinal), generated);
            foreach (string key in new[] { World.Key, null })
            {
                kept["key"] = key;
                world.Kept = kept;
                Latchkey.Open(Reading(world, () => Json.Of("machine_id", "found"))).CheckAsync().Wait();
                Suite.Equal(Json.Text(world.Kept["machine"], "machine_id"), key == null ? "found" : generated);
            }
        }

        /// <summary>Options of a client that reads the identity of its machine.</summary>
        internal static Options Reading(World world, Func<IDictionary<string, object>> reader)
        {
            Options options = world.Options;
            options.Machine = null;
            options.ReadMachine = reader;
            return options;
        }

        /// <summary>Reads the identity of a machine. <paramref name="printed"/>: command lines or files, each followed by its content.</summary>
        private static string Read(OSPlatform system, params string[] printed)
        {
            Func<string, string> find = name => printed.Contains(name) ? printed[Array.IndexOf(printed, name) + 1] : "";
            MachineReader.Sources sources = new MachineReader.Sources
            {
                System = system, SystemRoot = @"C:\Windows", Run = (program, arguments) => find(program + " " + arguments), Read = find,
            };
            return Json.Write(MachineReader.Read(sources));
        }
    }
}
