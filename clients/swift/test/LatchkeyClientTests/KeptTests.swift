import Foundation
import Testing

@testable import LatchkeyClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A file that exists, but cannot be read for a time.
@Suite struct KeptTests {
  private let world = World()

  @Test func fileThatCannotBeReadIsNotWrittenOver() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    let license = try world.open()
    #expect(world.problems.withLock { $0 } == ["folder_unreadable", "folder_unwritable"])
    world.service.answer(with: .activated)
    try await license.activate(licenseKey)
    #expect(license.state.mayRun && world.isUnreadable)
  }

  @Test func fileIsReadAgainBeforeTheNextCall() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    let license = try world.open()
    world.restoreFile()
    world.service.answer(with: .validated())
    try await license.check()
    #expect(license.state.mayRun)
    #expect(JSON(parsing: try world.readFile())?["key"]?.text == licenseKey)
  }

  @Test func fileIsReadAgainBeforeTheNextWrite() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    let license = try world.open()
    world.service.answer { [world] _ in
      world.restoreFile()  // During the call, which was to start a trial.
      throw URLError(.timedOut)
    }
    #expect(try await code { try await license.startTrial() } == "no_answer")
    let file = JSON(parsing: try world.readFile())
    #expect(license.state.kind == .licensed && file?["key"]?.text == licenseKey && file?["trial_wanted"] == false)
  }

  @Test func fileThatIsBusyForAMomentIsRead() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    var pauses = 0
    let data = try KeptFile(folder: world.folder).readWithRetries { _ in
      pauses += 1
      if pauses == 2 { world.restoreFile() }
    }
    #expect(data != nil && pauses == 2)
  }

  private let generated = Fingerprint(machineID: "generated-1")

  private var file: Kept {
    var file = Kept()
    file.key = "LK-FILE"
    file.activationID = "a-file"
    file.entitlement = "of the file"
    file.refused = KeptRefusal(reason: "license_revoked", at: nil)
    file.release = Activation(key: "LK-FILE", activationID: "a-file", machineID: "m")
    file.installID = "i"
    file.clock.latest = 9
    file.machine = Fingerprint(machineID: "m")
    file.lastAnswerAt = "before"
    file.others = ["theme": "dark"]
    return file
  }

  @Test func runWithoutALicenseOnlyAddsToTheFile() {
    var run = Kept()
    run.machine = generated
    run.request = OpenRequest(nonce: "n", createdAt: nil)
    run.trialWanted = true
    var expected = file
    expected.request = run.request
    #expect(file.joined(with: run, hasOwnLicense: false) == expected)
    #expect(Kept().joined(with: run, hasOwnLicense: false) == run)
    run.machine = Fingerprint(machineID: "read")
    #expect(file.joined(with: run, hasOwnLicense: false).machine == run.machine)
  }

  @Test func licenseOfTheRunReplacesThatOfTheFile() {
    var run = Kept()
    run.key = "LK-RUN"
    run.activationID = "a-run"
    run.entitlement = "of the run"
    run.machine = generated
    run.clock.latest = 5
    var expected = file
    expected.key = run.key
    expected.activationID = run.activationID
    expected.entitlement = run.entitlement
    expected.machine = generated
    expected.refused = nil
    #expect(file.joined(with: run, hasOwnLicense: true) == expected)
    #expect(file.joined(with: run.withoutLicense, hasOwnLicense: true).entitlement == nil)
  }

  @Test func sameActivationKeepsItsKeyAndIsNotReleased() {
    var run = Kept()
    run.activationID = "a-file"
    run.entitlement = "of the run"
    let joined = file.joined(with: run, hasOwnLicense: true)
    #expect(joined.key == "LK-FILE" && joined.release == nil)
  }
}
