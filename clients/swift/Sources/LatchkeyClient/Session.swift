import Foundation

/// What a client knows while it is open. One call at a time changes it; any thread may read the state.
final class Session: Sendable {
  static let licensesPath = "/api/v1/licenses"

  /// More than a service publishes at once.
  private static let maxFetchedKeys = 20
  private static let maxProblems = 5

  private struct Notes {
    var problems: [String] = []
    var lastQuestion = "answered, or none"
    var wantedKey: String?
    var verified: Verified?
    /// What this run did while the file could not be read; nil if it was read.
    var unread: Unread?
  }

  private struct Unread {
    /// Whether the run activated a license, apart from a trial, or removed it again.
    var hasOwnLicense = false
  }

  /// The last verdict.
  private struct Verified {
    let token: String
    let trust: Trust
    let result: Result<Claims, Verdict>
  }

  let options: Options
  private let network: Network
  private let file: KeptFile
  private let canFetchKeys: Bool
  private let snapshot = Locked(Snapshot())
  private let notes = Locked(Notes())

  init(_ options: Options, service: URLComponents) {
    self.options = options
    let address = options.service.hasSuffix("/") ? String(options.service.dropLast()) : options.service
    network = Network(service: address, timeout: options.timeout, transport: options.transport)
    file = KeptFile(folder: options.folder)
    canFetchKeys = service.scheme == "https" || ["localhost", "127.0.0.1", "[::1]", "::1"].contains(service.host)
  }

  var kept: Kept { snapshot.withLock(\.kept) }

  var state: LicenseState { snapshot.withLock { $0 }.state(device: device) }

  /// The time of the device.
  var device: Int64 { Times.milliseconds(of: options.now()) }

  /// The time of the device, corrected by that of the service.
  var now: Int64 { kept.clock.read(device: device).now }

  /// The key that was refused because no machine is free.
  var wantedKey: String? {
    get { notes.withLock(\.wantedKey) }
    set { notes.withLock { $0.wantedKey = newValue } }
  }

  var lastQuestion: String { notes.withLock(\.lastQuestion) }

  var problems: [String] { notes.withLock(\.problems) }

  /// Whether the file exists, but could not be read yet.
  var isUnread: Bool { notes.withLock { $0.unread != nil } }

  /// Reads what is kept, and verifies its entitlement.
  func load() {
    file.removeOldTemporaries()
    do {
      adopt(parse(try file.readWithRetries()))
    } catch {
      notes.withLock { $0.unread = Unread() }
      report("folder_unreadable", "\(error)")
    }
  }

  /// Returns the content of a file: nothing without one, and after a damaged one, which is renamed.
  private func parse(_ data: Data?) -> Kept {
    guard let data else { return Kept() }
    if case .object(let fields) = JSON(parsing: data) { return Kept(fields) }
    report("file_damaged", "what was kept is renamed to license.json.damaged")
    do {
      try file.setAside()
    } catch {
      report("folder_unwritable", "\(error)")
    }
    return Kept()
  }

  /// Reads a file that could not be read before, and adds what this run changed since.
  func readAgain() throws {
    guard let unread = notes.withLock(\.unread) else { return }
    let file = parse(try file.read())
    notes.withLock { $0.unread = nil }
    change(file.joined(with: kept, hasOwnLicense: unread.hasOwnLicense))
  }

  /// Replaces what is kept, and writes it; but never over a file that could not be read.
  func change(_ kept: Kept) {
    adopt(kept)
    guard isUnread else { return write(kept) }
    let isTrial = snapshot.withLock { $0.claims?.isTrial ?? false }
    if kept.isActivated && !isTrial { notes.withLock { $0.unread?.hasOwnLicense = true } }
    do {
      try readAgain()
    } catch {
      report("folder_unwritable", "nothing is written while the file cannot be read: \(error)")
    }
  }

  private func write(_ kept: Kept) {
    do {
      try file.write(kept.json.encoded() + Data("\n".utf8))
    } catch {
      report("folder_unwritable", "\(error)")
    }
  }

  /// Changes what is kept, and writes it.
  func change(_ change: (inout Kept) -> Void) {
    var changed = kept
    change(&changed)
    self.change(changed)
  }

  private func adopt(_ kept: Kept) {
    let claims = kept.entitlement.flatMap { try? verify($0, kept).get() }
    snapshot.withLock { snapshot in
      snapshot.kept = kept
      snapshot.claims = claims
    }
  }

  /// Notes whether the service answered the last question.
  func noteAnswer(_ isAnswered: Bool, _ question: String = "answered, or none") {
    snapshot.withLock { $0.isAnswered = isAnswered }
    notes.withLock { $0.lastQuestion = question }
  }

  /// Reports a problem that the client continues without.
  func report(_ code: String, _ message: String) {
    notes.withLock { notes in
      notes.problems = (notes.problems + ["\(code): \(message)"]).suffix(Self.maxProblems)
    }
    options.onProblem(code, message)
  }

  /// Keeps a new reading, else the last good one, else a random identity, which stays while a license uses it.
  func adoptMachine(_ reading: Fingerprint?) {
    if reading == nil { report("machine_unreadable", "the last good reading is used, or a random identity") }
    let kept = kept
    let chosen = kept.chooseMachine(reading)
    let machine = chosen ?? Fingerprint(machineID: "\(Fingerprint.generatedPrefix)\(UUID().uuidString.lowercased())")
    if machine != kept.machine { change { $0.machine = machine } }
  }

  func ask(_ path: String, _ content: [String: JSON]? = nil) async throws -> Answer {
    try await network.ask(path, content)
  }

  /// What an activation or a trial sends of the machine.
  var fingerprint: JSON {
    var sent: [String: JSON] = ["app_version": .text(options.appVersion)]
    sent["os_version"] = options.osVersion.map { .text($0) }
    return .object(sent.merging(kept.machine?.fields ?? [:]) { own, _ in own })
  }

  /// What an activation or a trial sends beside a key.
  var identity: [String: JSON] {
    var identity = ["machine_fingerprint": fingerprint]
    identity["install_id"] = kept.installID.map { .text($0) }
    return identity
  }

  /// Verifies an entitlement apart from its times, and remembers the last verdict.
  func verify(_ token: String, _ kept: Kept) -> Result<Claims, Verdict> {
    let trust = Trust(
      keys: options.publicKeys + kept.keys, issuer: options.issuer, products: options.products,
      machineID: kept.machineID)
    if let last = notes.withLock(\.verified), last.token == token, last.trust == trust { return last.result }
    let result = Result { () throws(Verdict) in try trust.verify(token) }
    notes.withLock { $0.verified = Verified(token: token, trust: trust, result: result) }
    return result
  }

  /// Returns what a positive answer changes. Without a genuine entitlement, it is no answer.
  func grant(_ answer: Answer) async throws -> Kept {
    guard let token = answer.body["entitlement"]?.text else { throw LatchkeyError.otherForm }
    var kept = kept
    var verified = verify(token, kept)
    if case .failure(.unknownKey) = verified, canFetchKeys {
      kept.keys = try await fetchKeys()
      verified = verify(token, kept)
    }
    do throws(Verdict) {
      let claims = try verified.get()
      let service = ServiceClock.serviceTime(date: answer.date, issued: claims.issuedAt * 1000)
      kept.clock.learn(device: device, service: service)
      // With the new time, so that a machine whose clock stands in 1970 can be activated.
      try claims.checkTime(now: kept.clock.read(device: device).now)
      kept.entitlement = token
      kept.refused = nil
      kept.lastAnswerAt = Times.format(service)
      return kept
    } catch {
      throw LatchkeyError.noAnswer(.portal, "the entitlement is not accepted: \(error.rawValue)")
    }
  }

  private func fetchKeys() async throws -> [PublicKey] {
    do {
      let keys = try await ask("/.well-known/jwks.json").body["keys"]
      return Array(PublicKey.read(keys).prefix(Self.maxFetchedKeys))
    } catch is LatchkeyError {
      return []  // The entitlement stays unverified.
    }
  }
}
