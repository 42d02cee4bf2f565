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

  @Test func trialOfTheRunDoesNotReplaceALicense() async throws {
    _ = try await world.openActivated()
    let before = try world.readFile()
    try world.makeUnreadable()
    let license = try world.open()
    let token = Signer.service.sign(["trial": true])
    world.service.answer(
      with: .json(["license_key": "LK-TRIAL", "activation_id": "a-trial", "entitlement": .text(token)]))
    try await license.startTrial()
    #expect(license.state.kind == .trial)
    world.restoreFile()
    world.service.fail(with: .cannotConnectToHost)
    #expect(try await code { try await license.check() } == "no_answer")
    let after = try world.readFile()
    #expect(license.state.kind == .licensed && after == before)
  }

  @Test func activatedLicenseReplacesThatOfTheFileAndIsWritten() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    let license = try world.open()
    let token = Signer.service.sign(["tier": "sellers"])
    world.service.answer(with: .json(["activation_id": "another", "entitlement": .text(token)]))
    try await license.activate(licenseKey)
    world.restoreFile()
    world.service.fail(with: .cannotConnectToHost)
    #expect(try await code { try await license.check() } == "no_answer")
    #expect(try world.open().state.tier == "sellers")
  }

  @Test func callsReportThatTheLicenseCannotBeRead() async throws {
    _ = try await world.openActivated()
    try world.makeUnreadable()
    let license = try world.open()
    world.service.fail(with: .cannotConnectToHost)
    #expect(try await code { try await license.check() } == "folder_unreadable")
    #expect(try await code { _ = try await license.machines() } == "folder_unreadable")
    #expect(try await code { try await license.moveHere(from: "any") } == "folder_unreadable")
    #expect(try await code { try await license.deactivate() } == "folder_unreadable")
    #expect(world.service.sent.isEmpty)
  }
}

/// A file that is joined with the changes of a run that could not read it.
@Suite struct JoinTests {
  private let machine = Fingerprint(machineID: "m")
  private let generated = Fingerprint(machineID: "generated-u")
  private let keys = ["file", "run"].map { [PublicKey(x: "x", kid: $0)] }

  private var file: Kept {
    var file = Kept()
    file.key = "LK-FILE"
    file.activationID = "a"
    file.entitlement = "file.e.e"
    file.clock = ServiceClock(offset: 5, latest: 9)
    file.machine = machine
    file.installID = "i"
    file.sharing = true
    file.release = Activation(key: "LK-OLD", activationID: "old", machineID: "m")
    file.lastAnswerAt = "2027-01-15T08:00:00.000Z"
    file.others = ["seats": 1]
    return file
  }

  private var run: Kept {
    var run = Kept()
    run.machine = machine
    return run
  }

  private var licensedRun: Kept { change(run, setLicense) }

  private func setLicense(_ kept: inout Kept) {
    kept.key = "LK-RUN"
    kept.activationID = "b"
    kept.entitlement = "run.e.e"
  }

  private func change(_ kept: Kept, _ edit: (inout Kept) -> Void) -> Kept {
    var changed = kept
    edit(&changed)
    return changed
  }

  @Test func runThatChangedNothingLeavesTheFile() {
    #expect(file.joined(with: Kept(), hasOwnLicense: false) == file)
    #expect(file.joined(with: run, hasOwnLicense: false) == file)
  }

  @Test(arguments: [true, false]) func everythingIsKeptBesideAnEmptyFile(hasOwnLicense: Bool) {
    let run = change(file) { kept in
      kept.keys = keys[0]
      (kept.installID, kept.sharing, kept.others) = (nil, nil, [:])
    }
    #expect(Kept().joined(with: run, hasOwnLicense: hasOwnLicense) == run)
  }

  @Test func trialIsKeptOnlyWithoutALicense() {
    #expect(file.joined(with: licensedRun, hasOwnLicense: false) == file)
    let empty = change(file) { ($0.key, $0.activationID, $0.entitlement) = (nil, nil, nil) }
    #expect(empty.joined(with: licensedRun, hasOwnLicense: false) == change(file, setLicense))
    let release = Activation(key: "LK-RUN", activationID: "b", machineID: "m")
    let waiting = change(licensedRun) { $0.release = release }
    #expect(file.joined(with: waiting, hasOwnLicense: false) == change(file) { $0.release = release })
  }

  @Test func activatedLicenseReplacesThatOfTheFile() {
    #expect(file.joined(with: licensedRun, hasOwnLicense: true) == change(file, setLicense))
    let refused = change(file) { $0.refused = KeptRefusal(reason: "license_revoked", at: nil) }
    #expect(refused.joined(with: licensedRun, hasOwnLicense: true) == change(file, setLicense))
    #expect(refused.joined(with: run, hasOwnLicense: false) == refused)
  }

  @Test func activationThatIsWantedAgainIsNotReleased() {
    let run = change(licensedRun) { $0.activationID = "old" }
    #expect(file.joined(with: run, hasOwnLicense: true).release == nil)
  }

  @Test func removedLicenseStaysRemoved() {
    let joined = file.joined(with: run, hasOwnLicense: true)
    #expect(!joined.isActivated && joined.activationID == nil)
  }

  @Test func offlineActivationKeepsItsKey() {
    let same = change(run) { ($0.activationID, $0.entitlement) = ("a", "run.e.e") }
    let joined = file.joined(with: same, hasOwnLicense: true)
    #expect(joined.key == "LK-FILE" && joined.entitlement == "run.e.e")
    let other = change(same) { $0.activationID = "b" }
    #expect(file.joined(with: other, hasOwnLicense: true).key == nil)
  }

  @Test func trialReplacesAnOlderCopyOfItselfAndCallsItsReleaseOff() {
    let again = change(licensedRun) { $0.activationID = "a" }
    let refused = change(file) { $0.refused = KeptRefusal(reason: "trial_expired", at: nil) }
    let expected = change(file) { ($0.key, $0.entitlement) = ("LK-RUN", "run.e.e") }
    #expect(refused.joined(with: again, hasOwnLicense: false) == expected)
    let released = change(licensedRun) { $0.activationID = "old" }
    #expect(file.joined(with: released, hasOwnLicense: false) == change(file) { $0.release = nil })
  }

  @Test func wantedTrialIsKeptUnlessThereIsALicense() {
    let run = change(run) { $0.trialWanted = true }
    let offline = change(file) { $0.key = nil }
    #expect(!offline.joined(with: run, hasOwnLicense: false).trialWanted)
    #expect(!file.joined(with: run, hasOwnLicense: false).trialWanted)
    #expect(Kept().joined(with: run, hasOwnLicense: false).trialWanted)
    #expect(run.joined(with: self.run, hasOwnLicense: false).trialWanted)
  }

  @Test func requestOfTheRunReplacesThatOfTheFile() {
    let file = change(file) { $0.request = OpenRequest(nonce: "file", createdAt: nil) }
    let run = change(run) { $0.request = OpenRequest(nonce: "run", createdAt: nil) }
    #expect(file.joined(with: run, hasOwnLicense: false) == change(file) { $0.request = run.request })
    #expect(file.joined(with: self.run, hasOwnLicense: false) == file)
  }

  @Test(arguments: [true, false]) func latestTimeNeverDecreases(hasOwnLicense: Bool) {
    for (learnt, latest, offset) in [(0, 9, 5), (8, 9, 7), (10, 10, 7)] as [(Int64, Int64, Int64)] {
      let run = change(run) { $0.clock = ServiceClock(offset: 7, latest: learnt) }
      let joined = file.joined(with: run, hasOwnLicense: hasOwnLicense)
      #expect(joined.clock == ServiceClock(offset: offset, latest: latest))
    }
  }

  @Test func randomMachineIsKeptOnlyWithItsLicense() {
    let generatedRun = change(licensedRun) { $0.machine = generated }
    #expect(file.joined(with: generatedRun, hasOwnLicense: false).machine == machine)
    #expect(file.joined(with: generatedRun, hasOwnLicense: true).machine == generated)
    let generatedFile = change(file) { $0.machine = generated }
    #expect(generatedFile.joined(with: run, hasOwnLicense: false).machine == generated)
    let unread = change(file) { $0.machine = nil }
    #expect(unread.joined(with: generatedRun, hasOwnLicense: false).machine == generated)
    let read = change(run) { $0.machine = Fingerprint(machineID: "read") }
    #expect(file.joined(with: read, hasOwnLicense: false).machine == read.machine)
  }

  @Test func fetchedKeysAreThoseOfTheLicenseThatRemains() {
    let fetched = change(run) { $0.keys = keys[1] }
    let keyedFile = change(file) { $0.keys = keys[0] }
    #expect(keyedFile.joined(with: fetched, hasOwnLicense: false).keys == keys[0])
    #expect(keyedFile.joined(with: fetched, hasOwnLicense: true).keys == keys[1])
    #expect(file.joined(with: fetched, hasOwnLicense: false).keys == keys[1])
    #expect(keyedFile.joined(with: run, hasOwnLicense: true).keys == keys[0])
  }
}
