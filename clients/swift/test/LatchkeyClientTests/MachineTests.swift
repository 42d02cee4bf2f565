import Foundation
import Testing

@testable import LatchkeyClient

@Suite struct MachineTests {
  private func read(_ system: MachineReader.System, printed: String? = nil, files: [String: String] = [:])
    -> Fingerprint?
  {
    MachineReader(system: system, run: { _, _ in printed }, readFile: { files[$0] }).read()
  }

  @Test func macOSIsReadFromIoreg() {
    let printed = "    \"IOPlatformUUID\" = \"0F1E2D3C-0000-1111-2222-333344445555\"\n"
    #expect(read(.macOS, printed: printed) == Fingerprint(machineID: "0F1E2D3C-0000-1111-2222-333344445555"))
    #expect(read(.macOS) == nil && read(.other) == nil)
  }

  @Test func linuxIsReadFromFiles() {
    let id = "0123456789abcdef0123456789abcdef"
    let serial = "/sys/class/dmi/id/board_serial"
    let board = Fingerprint(machineID: id, parts: ["board_serial": "PF2X"])
    #expect(read(.linux, files: ["/etc/machine-id": "\(id)\n", serial: " PF2X\n"]) == board)
    #expect(read(.linux, files: ["/var/lib/dbus/machine-id": id]) == Fingerprint(machineID: id))
    for placeholder in ["", "Default string", "To be filled by O.E.M.", "0000", "..."] {
      #expect(read(.linux, files: ["/etc/machine-id": id, serial: placeholder]) == Fingerprint(machineID: id))
    }
    #expect(read(.linux, files: ["/etc/machine-id": "uninitialized\n"]) == nil)
  }

  @Test func programsAreRunByTheirPath() {
    #expect(MachineReader.runProgram("/bin/echo", ["one two"]) == "one two\n")
    #expect(MachineReader.runProgram("/bin/false", []) == nil)
    #expect(MachineReader.runProgram("/no/such/program", []) == nil)
  }

  @Test func lastGoodReadingStays() async throws {
    let world = World()
    let known = Fingerprint(machineID: "known")
    let open: (Fingerprint?) throws -> Latchkey = { reading in
      try world.open { options in
        options.machine = nil
        options.readMachine = { reading }
      }
    }
    #expect(try open(known).session.kept.machine == known)
    let again = try open(nil)
    while world.problems.withLock({ $0 }) != ["machine_unreadable"] { await Task.yield() }
    #expect(again.session.kept.machine == known)
  }

  @Test func randomIdentityIsKeptWithoutAReading() throws {
    let world = World()
    let license = try world.open { options in
      options.machine = nil
      options.readMachine = { nil }
    }
    #expect(license.session.kept.machineID.hasPrefix("generated-"))
    #expect(JSON(parsing: try world.readFile())?["machine"]?["machine_id"]?.text == license.session.kept.machineID)
  }
}
