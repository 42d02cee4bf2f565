import Foundation

/// The license of a program on this machine.
///
/// A program opens one object, which any task may use: calls run one after the other, and ``state`` can be read at any time.
public final class Latchkey: Sendable {
  /// The version of this package.
  public static let version = "1.0.0"

  /// The state that the program saw last, and who waits for the next one.
  private struct Shown {
    var state: LicenseState
    var listeners: [UUID: AsyncStream<LicenseState>.Continuation] = [:]
    var isClosed = false
  }

  let session: Session
  let background = Locked(Background())
  private let calls = CallQueue()
  private let shown: Locked<Shown>

  /// Reads what is kept, and sends no request.
  /// - Throws: ``InvalidOptions``
  public init(_ options: Options) throws(InvalidOptions) {
    session = Session(options, service: try options.check())
    session.load()
    let hasKeptReading = options.machine == nil && session.kept.machine != nil
    if !hasKeptReading { session.adoptMachine(options.machine ?? options.readMachine()) }
    shown = Locked(Shown(state: session.state))
    if hasKeptReading { readMachineAgain() }
  }

  deinit {
    background.withLock { $0.close() }
    finishChanges()
  }

  /// Reads the machine on a thread that may wait; a reading that is kept counts until then, so that the program starts at once.
  private func readMachineAgain() {
    DispatchQueue.global(qos: .utility).async { [weak self, readMachine = session.options.readMachine] in
      let reading = readMachine()
      Task { try? await self?.call { $0.adoptMachine(reading) } }
    }
  }

  /// What the program may do now. It needs no network, and no call has to end first.
  public var state: LicenseState { session.state }

  /// Returns whether the program may run, with this feature.
  public func has(_ feature: String) -> Bool {
    state.features.contains(feature)
  }

  /// Returns the states that follow until ``close()``, each when it is another one.
  public func changes() -> AsyncStream<LicenseState> {
    let (states, continuation) = AsyncStream.makeStream(of: LicenseState.self, bufferingPolicy: .bufferingNewest(1))
    let id = UUID()
    let isClosed = shown.withLock { shown in
      if !shown.isClosed { shown.listeners[id] = continuation }
      return shown.isClosed
    }
    if isClosed { continuation.finish() }
    continuation.onTermination = { [weak self] _ in _ = self?.shown.withLock { $0.listeners.removeValue(forKey: id) } }
    return states
  }

  /// Activates this machine with a key, as a person typed or pasted it.
  public func activate(_ key: String) async throws {
    try await call { try await $0.activate(typed: key) }
  }

  /// Starts the trial of this machine. Without an answer, ``keepChecking()`` starts it later.
  public func startTrial() async throws {
    try await call { try await $0.startTrial() }
  }

  /// Asks the service whether this machine may run. Call it on your own only without ``keepChecking()``.
  public func check(_ trigger: Trigger = .manual) async throws {
    try await call { try await $0.check(trigger) }
  }

  /// Frees this machine. Without an answer it continues to run, and the next check frees it.
  public func deactivate() async throws {
    try await call { try await $0.deactivate() }
  }

  /// Lists the machines of the license, or of the key that was just refused because none is free.
  public func machines() async throws -> [Machine] {
    try await call { try await $0.listMachines().machines }
  }

  /// Frees another machine of the license, and activates this one.
  public func moveHere(from activationID: String) async throws {
    try await call { try await $0.moveHere(activationID) }
  }

  /// Waits for the license of a checkout at your payment provider, for ten minutes, and activates it.
  public func afterPurchase(_ transactionID: String) async throws {
    try await afterPurchase(transactionID, firstPause: .seconds(2), timeout: .seconds(600))
  }

  func afterPurchase(_ transactionID: String, firstPause: Duration, timeout: Duration) async throws {
    let end = ContinuousClock.now + timeout
    var pause = firstPause
    while true {
      do {
        return try await call { try await $0.activatePurchase(transactionID) }
      } catch let error as LatchkeyError where ["no_answer", "purchase_pending"].contains(error.code) {
        if ContinuousClock.now >= end { throw error }
      }
      try await Task.sleep(until: min(ContinuousClock.now + pause, end))
      pause = min(pause * 1.3, .seconds(15))
    }
  }

  /// Creates the text of a machine without a connection, for the page for buyers.
  /// - Parameter name: what the user calls the machine
  public func offlineRequest(product: String, name: String? = nil) async throws -> String {
    try await call { $0.offlineRequest(product, name) }
  }

  /// Accepts the answer to the last request, with any text around it.
  public func acceptOffline(_ text: String) async throws {
    try await call { try $0.acceptOffline(text) }
  }

  /// Describes the license for support, without key, token and machine id.
  public func explain() -> String {
    session.explain()
  }

  /// Ends the background checks, and waits for calls that run.
  public func close() async {
    background.withLock { $0.close() }
    await calls.wait()
    finishChanges()
  }

  private func finishChanges() {
    let listeners = shown.withLock { shown in
      shown.isClosed = true
      defer { shown.listeners = [:] }
      return shown.listeners
    }
    for listener in listeners.values { listener.finish() }
  }

  private func call<Value: Sendable>(
    _ work: @escaping @Sendable (Session) async throws -> Value
  ) async throws -> Value {
    let result = await calls.run { [session] in await session.attempt(work) }
    if case .failure(LatchkeyError.noAnswer(let failure)) = result {
      background.withLock { $0.schedule?.notice(failure, jitter: Self.jitter) }
    }
    notify()
    return try result.get()
  }

  func notify() {
    shown.withLock { shown in
      // Read here, so that no older state follows a newer one.
      let state = session.state
      let hasChanged = state.differs(from: shown.state)
      shown.state = state
      guard hasChanged else { return }
      for listener in shown.listeners.values { listener.yield(state) }
    }
  }
}

/// A machine of a license.
public struct Machine: Sendable, Equatable {
  public let activationID: String
  public let isActive: Bool
  /// Whether the program runs on it.
  public let isThis: Bool
  public let osVersion: String?
  public let appVersion: String?
  public let activatedAt: Date?
  public let lastValidatedAt: Date?
  let machineID: String

  /// Returns nil for JSON of another form.
  init?(_ listed: JSON, this kept: Kept) {
    guard let activationID = listed["activation_id"]?.text, let machineID = listed["machine_id"]?.text,
      let isActive = listed["is_active"]?.bool
    else { return nil }
    self.activationID = activationID
    self.isActive = isActive
    self.machineID = machineID
    isThis = activationID == kept.activationID || machineID == kept.machineID
    osVersion = listed["os_version"]?.text
    appVersion = listed["app_version"]?.text
    activatedAt = Times.parse(listed["activated_at"]?.text)
    lastValidatedAt = Times.parse(listed["last_validated_at"]?.text)
  }
}
