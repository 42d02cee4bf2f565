import Foundation
import Testing

@testable import LatchkeyClient

@Suite struct ClientTests {
  private let world = World()

  @Test func openingListsAllWrongOptions() throws {
    do {
      _ = try world.open { options in
        options.service = "license.example.com"
        options.products = []
        options.publicKeys = [PublicKey(x: "AA", kid: "short")]
        options.machine = Fingerprint(machineID: "")
        options.timeout = .zero
      }
      Issue.record("wrong options are accepted")
    } catch let error as InvalidOptions {
      let names = error.problems.map { $0.split(separator: " ")[0] }
      #expect(names == ["service", "products", "publicKeys", "machine", "timeout"])
    }
  }

  @Test func startsWithoutALicenseAndSendsNothing() throws {
    let state = try world.open().state
    #expect(!state.mayRun && state.kind == .none && state.reason == "not_activated")
    #expect(world.service.sent.isEmpty && world.problems.withLock { $0 }.isEmpty)
  }

  @Test(arguments: ["", "{\"version\":", String(repeating: "\0", count: 100), "[\"license\"]"])
  func damagedFileIsSetAside(_ text: String) throws {
    try world.write(text)
    #expect(try world.open().state.reason == "not_activated")
    #expect(world.problems.withLock { $0 } == ["file_damaged"])
    #expect(try Data(contentsOf: world.file.appendingPathExtension("damaged")) == Data(text.utf8))
  }

  @Test(arguments: ["7", "[{}]", "{\"reason\": 1}", "true"])
  func fieldsOfAnotherTypeCountAsAbsentAndUnknownOnesSurvive(_ odd: String) async throws {
    let names = ["key", "activation_id", "entitlement", "keys", "refused", "clock", "release", "request"]
    let fields = names.map { "\"\($0)\": \(odd)" }.joined(separator: ",")
    try world.write("{\"theme\": {\"name\": \"dark\"}, \(fields)}")
    let license = try world.open()
    #expect(license.state.reason == "not_activated")
    _ = try await license.offlineRequest(product: "personal")
    #expect(JSON(parsing: try world.readFile())?["theme"] == ["name": "dark"])
  }

  @Test func licenseRunsAfterARestartWithoutANetwork() async throws {
    let license = try world.open()
    world.service.answer(with: .activated)
    try await license.activate(" \(licenseKey.lowercased()) ")
    let sent = try #require(world.service.sent.first)
    #expect(sent.path == "/api/v1/licenses/activate" && sent.body?["license_key"] == .text(licenseKey))
    #expect(sent.body?["machine_fingerprint"]?["machine_id"] == .text(machineID))
    #expect(license.has("gpu") && !license.has("fleet"))
    world.service.fail(with: .notConnectedToInternet)
    let state = try world.open().state
    #expect(state.mayRun && state.kind == .licensed && state.source == .kept && state.daysLeft == 14)
  }

  @Test func fileIsTheOnlyOneAndOnlyItsOwnerReadsIt() async throws {
    _ = try await world.openActivated()
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path) == ["license.json"])
    let attributes = try FileManager.default.attributesOfItem(atPath: world.file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func mistypedKeyIsRefusedWithoutARequest() async throws {
    let license = try world.open()
    for typed in [licenseKey.replacingOccurrences(of: "7Q", with: "Q7"), "", " \n"] {
      #expect(try await code { try await license.activate(typed) } == "key_mistyped")
    }
    #expect(world.service.sent.isEmpty)
  }

  @Test func machineIsMovedHereAfterTheLimit() async throws {
    let license = try world.open()
    world.service.answer(with: .problem(409, "activation_limit_reached"))
    do {
      try await license.activate(licenseKey)
      Issue.record("activated")
    } catch LatchkeyError.refused(let refusal) {
      #expect(refusal.code == "activation_limit_reached" && refusal.max == 3)
    }
    world.service.answer { sent in
      if sent.path.hasSuffix("/activations") {
        return .json([["activation_id": "other", "machine_id": "m2", "is_active": true]])
      }
      return sent.path.hasSuffix("/deactivate") ? .json(["success": true]) : .activated
    }
    try await license.moveHere(from: "other")
    let names = world.service.sent.map { $0.path.split(separator: "/").last.map(String.init) }
    #expect(names == ["activations", "deactivate", "activate"])
    #expect(license.state.mayRun)
  }

  @Test func trialIsStartedByTheNextCheckIfTheServiceDoesNotAnswer() async throws {
    let license = try world.open()
    #expect(try await code { try await license.startTrial() } == "no_answer")
    #expect(license.explain().contains("waiting: trial to be started"))
    world.service.answer { _ in
      .json([
        "activation_id": .text(activationID), "license_key": .text(licenseKey),
        "entitlement": .text(Signer.service.sign(["trial": true])),
      ])
    }
    try await license.check()
    #expect(license.state.kind == .trial)
  }

  @Test func trialThatWaitsSurvivesACloseDuringTheCheck() async throws {
    let first = try world.open()
    #expect(try await code { try await first.startTrial() } == "no_answer")
    let license = try world.open()
    let (began, beginning) = AsyncStream.makeStream(of: Void.self)
    world.service.answer { _ in
      beginning.yield()
      try await Task.sleep(for: .seconds(600))
      return .page(200)
    }
    license.keepChecking()
    for await _ in began { break }
    await license.close()
    #expect(license.session.kept.trialWanted)
    #expect(JSON(parsing: try world.readFile())?["trial_wanted"] == true)
  }

  @Test func answerWithoutAConnectionEndsTheReleaseOfItsActivation() async throws {
    let license = try await world.openActivated()
    world.service.fail(with: .timedOut)
    #expect(try await code { try await license.deactivate() } == "no_answer")
    _ = try await license.offlineRequest(product: "personal")
    let nonce = try #require(license.session.kept.request?.nonce)
    try await license.acceptOffline(Signer.service.sign(["nonce": .text(nonce)]))
    world.service.answer(with: .validated())
    try await license.check()
    #expect(world.service.sent.count == 1 && license.state.mayRun)
  }

  @Test func machineIsFreedByTheNextCheckIfTheServiceDoesNotAnswer() async throws {
    let license = try await world.openActivated()
    world.service.fail(with: .timedOut)
    #expect(try await code { try await license.deactivate() } == "no_answer")
    #expect(license.state.mayRun)
    world.service.answer(with: .json(["success": true]))
    #expect(try await code { try await license.check() } == "not_activated")
    #expect(license.state.reason == "not_activated")
  }

  @Test func refusalCountsUntilThePositiveAnswer() async throws {
    let license = try await world.openActivated()
    world.service.answer(with: .json(["valid": false, "reason": "license_revoked"]))
    #expect(try await code { try await license.check() } == "license_revoked")
    #expect(license.state.kind == .refused && license.state.features.isEmpty)
    world.service.answer(with: .validated())
    try await license.check()
    #expect(license.state.mayRun)
  }

  @Test func changesAreSeenOnce() async throws {
    let license = try world.open()
    var changes = license.changes().makeAsyncIterator()
    world.service.answer(with: .activated)
    try await license.activate(licenseKey)
    #expect(await changes.next()?.kind == .licensed)
    world.service.answer(with: .validated())
    try await license.check()
    await license.close()
    #expect(await changes.next() == nil)
  }

  @Test func cancelledCallThrowsAndTheNextOneWorks() async throws {
    let license = try await world.openActivated()
    let (began, beginning) = AsyncStream.makeStream(of: Void.self)
    world.service.answer { _ in
      beginning.yield()
      try await Task.sleep(for: .seconds(600))
      return .page(200)
    }
    let call = Task { try await license.check() }
    for await _ in began { break }
    let waiting = Task { try await license.check() }
    waiting.cancel()
    call.cancel()
    for each in [call, waiting] {
      await #expect(throws: CancellationError.self) { try await each.value }
    }
    world.service.answer(with: .validated())
    try await license.check()
  }

  @Test func callsOfManyTasksRunOneAfterTheOther() async throws {
    let license = try await world.openActivated()
    let running = Locked(0)
    world.service.answer { _ in
      #expect(running.increment() == 1)
      await Task.yield()
      running.withLock { $0 -= 1 }
      return .validated()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { try await license.check() } }
      try await group.waitForAll()
    }
    #expect(world.service.sent.count == 50)
  }

  @Test func purchaseIsActivatedWhenThePaymentIsConfirmed() async throws {
    let license = try world.open()
    let asked = Locked(0)
    world.service.answer { sent in
      guard sent.path == "/api/v1/licenses/check/txn%2F1" else { return .activated }
      let count = asked.increment()
      if count == 1 { throw URLError(.networkConnectionLost) }
      return count < 4 ? .json(["status": "pending"]) : .json(["status": "done", "license_key": .text(licenseKey)])
    }
    try await license.afterPurchase("txn/1", firstPause: .milliseconds(1), timeout: .seconds(600))
    #expect(license.state.mayRun && asked.withLock { $0 } == 4)
  }

  @Test func purchaseThatStaysPendingIsReportedAtTheEnd() async throws {
    let license = try world.open()
    world.service.answer(with: .json(["status": "pending"]))
    let result = try await code {
      try await license.afterPurchase("txn", firstPause: .seconds(2), timeout: .zero)
    }
    #expect(result == "purchase_pending" && world.service.sent.count == 1)
  }

  @Test func backgroundChecksBeginAtOnceAndFollowTheFocus() async throws {
    let license = try await world.openActivated()
    let (triggers, asked) = AsyncStream.makeStream(of: String?.self)
    world.service.answer { sent in
      asked.yield(sent.body?["trigger"]?.text)
      return .validated()
    }
    license.noticeFocus()  // Has no effect before the start.
    license.keepChecking()
    license.keepChecking()
    var seen = triggers.makeAsyncIterator()
    #expect(await seen.next() == "startup")
    license.noticeFocus()
    license.noticeFocus()
    #expect(await seen.next() == "foreground")
    await license.close()
    #expect(world.service.sent.count == 2)
  }

  @Test(.timeLimit(.minutes(1))) func nothingBeginsAfterClose() async throws {
    let license = try await world.openActivated()
    world.service.answer(with: .validated())
    license.keepChecking()
    await license.close()
    let sent = world.service.sent.count
    license.noticeFocus()
    license.keepChecking()
    #expect(license.background.withLock { $0.focusCheck } == nil)
    for await _ in license.changes() {}  // It ends at once.
    #expect(world.service.sent.count == sent)
  }

  @Test(.timeLimit(.minutes(1))) func cancelledWorkDoesNotBegin() async {
    let queue = CallQueue()
    let result = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await queue.run { .success("begun") }
    }.value
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test func temporaryFilesOfKilledProgramsAreRemovedAfterAnHour() throws {
    try world.write("{}")
    let names = ["license.json.1.tmp", "license.json.2.tmp", "other.tmp"]
    for name in names { try Data().write(to: world.folder.appendingPathComponent(name)) }
    let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -7200)]
    for name in [names[0], names[2]] {
      try FileManager.default.setAttributes(old, ofItemAtPath: world.folder.appendingPathComponent(name).path)
    }
    _ = try world.open()
    let left = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
    #expect(left.sorted() == ["license.json", "license.json.2.tmp", "other.tmp"])
  }

  @Test func stateIsReadySoon() async throws {
    _ = try await world.openActivated()
    let clock = ContinuousClock()
    let times = try (0..<50).map { _ in
      let began = clock.now
      let mayRun = try world.open().state.mayRun
      let time = clock.now - began
      #expect(mayRun)
      return time
    }
    let license = try world.open()
    let later = clock.measure { for _ in 0..<1000 { _ = license.state } } / 1000
    let fastest = try #require(times.min())
    print("state from disk in \(fastest), later in \(later)")
    #expect(fastest < .milliseconds(5) && later < .milliseconds(1))
  }
}
