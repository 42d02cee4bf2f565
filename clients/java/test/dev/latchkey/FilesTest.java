package dev.latchkey;

import static dev.latchkey.Rules.*;
import static dev.latchkey.Suite.*;

import dev.latchkey.Latchkey.*;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.*;
import java.util.stream.Stream;

/** The kept file, and the identity of the machine in it. */
final class FilesTest {
    private static final String GUID = "6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8", HEX = "0f3c9a7d5b1e4f2688c4d0a1b2e3f405";

    static void addTo(Suite suite) {
        suite.test("the state is one file that only its owner reads", () -> {
            World world = new World();
            world.openActivated();
            try (Stream<Path> files = Files.list(world.folder)) {
                equal(files.map(each -> each.getFileName().toString()).toList(), List.of("license.json"));
            }
            equal(PosixFilePermissions.toString(Files.getPosixFilePermissions(world.folder.resolve("license.json"))), "rw-------");
        });
        suite.test("a damaged file is renamed and reported", () -> {
            for (String damaged : List.of("", "[1]", "{\"key\":", "\0\0\0")) {
                World world = new World();
                Files.createDirectories(world.folder);
                Files.writeString(world.folder.resolve("license.json"), damaged);
                equal(world.open().state().reason(), "not_activated");
                equal(world.problems, List.of("file_damaged"));
                equal(World.read(world.folder.resolve("license.json.damaged")), damaged);
            }
        });
        suite.test("with a folder that cannot be written, the license works for this run", () -> {
            World world = new World();
            Files.createDirectories(world.folder.getParent());
            Files.writeString(world.folder, "no folder");
            equal(world.openActivated().state().mayRun(), true);
            isTrue(world.problems.contains("folder_unwritable"), world.problems.toString());
        });
        suite.test("reading is tried again while another program holds the file", () -> {
            List<String> failures = new ArrayList<>();
            String read = Device.retry(() -> {
                failures.add("held");
                if (failures.size() < 3) throw new AccessDeniedException("license.json");
                return "read";
            });
            equal(List.of(read, failures.size()), List.of("read", 3));
        });
        suite.test("fields of a newer version are kept, and fields of another type count as absent", () -> {
            World world = new World();
            world.openActivated();
            Map<String, Object> kept = world.kept();
            kept.putAll(fields("theme", List.of(1.5, fields("a", null)), "refused", 7, "clock", "noon", "release", fields("key", 1), "request", List.of()));
            Files.writeString(world.folder.resolve("license.json"), Json.write(kept));
            Latchkey client = world.open();
            equal(client.state().kind(), Kind.LICENSED);
            world.script = (path, body) -> World.validated();
            equal(client.check(), Result.OK);
            equal(Json.write(world.kept().get("theme")), "[1.5,{\"a\":null}]");
        });
        suite.test("Windows: reads the registry by the full path of its program", () -> {
            Machine machine = new Machine("Windows 11", Map.of(
                "C:\\Windows\\System32\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64", World.fixture("reg.txt")));
            equal(machine.read(), fields("machine_id", GUID));
            for (String name : List.of("reg-forbidden.txt", "reg-missing-de.txt")) equal(Device.readRegistryOutput(World.fixture(name)), null);
        });
        suite.test("macOS: reads the UUID of the hardware by the full path of the program", () -> {
            Machine machine = new Machine("Mac OS X", Map.of("/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice", World.fixture("ioreg.txt")));
            equal(machine.read(), fields("machine_id", "E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B"));
        });
        suite.test("Linux: reads the machine id, or that of D-Bus, and the serial number of the board", () -> {
            String dmi = "/sys/class/dmi/id/board_serial";
            equal(new Machine("Linux", Map.of("/etc/machine-id", HEX + "\n")).read(), fields("machine_id", HEX));
            equal(new Machine("Linux", Map.of("/var/lib/dbus/machine-id", HEX, dmi, "CN7016355A\n")).read(), fields("machine_id", HEX, "board_serial", "CN7016355A"));
            for (String serial : List.of("Default string", "To be filled by O.E.M.", "None", "0000", "xxx", ".", " ")) {
                equal(new Machine("Linux", Map.of("/etc/machine-id", HEX, dmi, serial)).read(), fields("machine_id", HEX));
            }
            equal(new Machine("Linux", Map.of(dmi, "CN7016355A")).read(), null);
        });
        suite.test("a program that prints nothing, fails or does not exist has no effect", () -> {
            Map<String, Object> read = Device.readMachine();
            isTrue(read == null || read.get("machine_id") instanceof String, "another type");
            equal(Device.OWN_SOURCES.run("/no/such/program"), "");
            equal(Device.OWN_SOURCES.run("/bin/false"), "");
            equal(Device.OWN_SOURCES.read("/no/such/file"), "");
        });
        suite.test("the last good reading is kept when a later one fails", () -> {
            World world = new World();
            world.openActivated();
            for (Options options : List.of(reading(world, () -> null), reading(world, () -> {
                throw new IllegalStateException("no registry");
            }))) {
                Latchkey client = Latchkey.open(options);
                world.script = (path, body) -> World.validated();
                equal(client.check(), Result.OK);
                equal(client.state().kind(), Kind.LICENSED);
            }
            isTrue(world.problems.contains("machine_unreadable"), world.problems.toString());
        });
        suite.test("a machine without an identity gets a random one, which stays while a license uses it", () -> {
            World world = new World();
            Latchkey.open(reading(world, () -> null)).close();
            String generated = text(world.kept().get("machine"), "machine_id");
            isTrue(generated.startsWith("generated-"), generated);
            Map<String, Object> kept = world.kept();
            kept.put("key", World.KEY);
            Files.writeString(world.folder.resolve("license.json"), Json.write(kept));
            Latchkey used = Latchkey.open(reading(world, () -> fields("machine_id", "found")));
            used.check();
            equal(text(world.kept().get("machine"), "machine_id"), generated);
            kept.put("key", null);
            Files.writeString(world.folder.resolve("license.json"), Json.write(kept));
            Latchkey.open(reading(world, () -> fields("machine_id", "found"))).check();
            equal(text(world.kept().get("machine"), "machine_id"), "found");
        });
    }

    /** Options of a client that reads the identity of its machine. */
    static Options reading(World world, java.util.function.Supplier<Map<String, Object>> reader) {
        Options options = world.options().machine(reader);
        options.machine = null;
        return options;
    }

    /** What a system prints, by command line or file. */
    private record Machine(String system, Map<String, String> printed) implements Device.Sources {
        Map<String, Object> read() {
            return Device.readMachine(system, "C:\\Windows", this);
        }

        @Override
        public String run(String... command) {
            return printed.getOrDefault(String.join(" ", command), "");
        }

        @Override
        public String read(String path) {
            return printed.getOrDefault(path, "");
        }
    }
}
