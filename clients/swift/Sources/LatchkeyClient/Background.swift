import Foundation

/// Why a client asks: the start, time, sleep, a network again, the front again, or the user.
public enum Trigger: String, Sendable {
  case startup, scheduled, wake, reconnect, foreground, manual
}

/// When the next check is due. Times are seconds.
struct Schedule: Sendable {
  static let tick: TimeInterval = 60
  private static let wakeAfter: TimeInterval = 300
  private static let foregroundAfter: TimeInterval = 60

  /// After an answer, and after one, two, three and more questions without one.
  private static let waits: [TimeInterval] = [86_400, 60, 300, 900, 3600]

  /// Nil: a check runs, or none is planned yet.
  private(set) var checkIn: TimeInterval?
  private var failures = 0
  private var lastTick: Date
  private var lastNetwork: String
  private var lastFocus: Date?

  init(now: Date, network: String) {
    lastTick = now
    lastNetwork = network
  }

  /// Returns why to check now, a minute after the last tick, or later if the computer slept.
  mutating func tick(now: Date, network: String) -> Trigger? {
    let passed = now.timeIntervalSince(lastTick)
    let hasOtherNetwork = network != lastNetwork
    lastTick = now
    lastNetwork = network
    // A clock that was set back counts as a tick.
    let left = checkIn.map { $0 - max(passed, Self.tick) }
    checkIn = left
    // The computer slept, or its clock was set.
    if abs(passed) > Self.wakeAfter { return .wake }
    if failures > 0 && hasOtherNetwork { return .reconnect }
    return left.map { $0 <= 0 } ?? false ? .scheduled : nil
  }

  /// Returns whether a check may follow: at most once a minute.
  mutating func noticeFocus(now: Date) -> Bool {
    if let lastFocus, abs(now.timeIntervalSince(lastFocus)) < Self.foregroundAfter { return false }
    lastFocus = now
    return true
  }

  mutating func beginCheck() {
    checkIn = nil
  }

  /// - Parameter isUnread: whether there may be a license that could not be read yet: the next check comes as soon as after no answer
  /// - Parameter jitter: from 0.9 to 1.1, so that the machines of a company do not ask at the same time.
  mutating func endCheck(_ failure: NoAnswer?, isUnread: Bool = false, jitter: Double) {
    failures = failure == nil && !isUnread ? 0 : failures + 1
    checkIn = wait(after: failure) * jitter
  }

  /// Lets what waits for the service be sent soon after a call without an answer, not a day later.
  mutating func notice(_ failure: NoAnswer?, jitter: Double) {
    guard let failure, let checkIn else { return }
    failures = max(failures, 1)
    self.checkIn = min(checkIn, wait(after: failure) * jitter)
  }

  private func wait(after failure: NoAnswer?) -> TimeInterval {
    let asked = failure?.retryAfter.map { TimeInterval($0.components.seconds) } ?? 0
    return max(Self.waits[min(failures, Self.waits.count - 1)], asked)
  }
}

/// The background checks of a client.
struct Background: Sendable {
  /// Nil before they begin.
  var schedule: Schedule?
  var checks: Task<Void, Never>?
  /// The check after the program came to the front.
  var focusCheck: Task<Void, Never>?
  private(set) var isClosed = false

  mutating func close() {
    isClosed = true
    checks?.cancel()
    focusCheck?.cancel()
  }
}

extension Latchkey {
  /// Checks now and from now on: daily, after sleep, and when the network returns.
  public func keepChecking() {
    background.withLock { background in
      guard background.schedule == nil, !background.isClosed else { return }
      background.schedule = Schedule(now: session.options.now(), network: describeNetwork())
      background.checks = Task { [weak self] in await Self.keepChecking { self } }
    }
  }

  private static func keepChecking(_ client: () -> Latchkey?) async {
    await client()?.checkInBackground(.startup)
    while (try? await Task.sleep(for: .seconds(Schedule.tick))) != nil {
      guard let client = client() else { return }
      await client.onTick()
    }
  }

  private func onTick() async {
    notify()
    let now = session.options.now()
    let network = describeNetwork()
    let trigger = background.withLock { $0.schedule?.tick(now: now, network: network) }
    if let trigger { await checkInBackground(trigger) }
  }

  /// Call it when the program comes to the front: a check follows, at most one a minute.
  public func noticeFocus() {
    let now = session.options.now()
    background.withLock { background in
      guard !background.isClosed, background.schedule?.noticeFocus(now: now) ?? false else { return }
      background.focusCheck = Task { await checkInBackground(.foreground) }
    }
  }

  private func checkInBackground(_ trigger: Trigger) async {
    background.withLock { $0.schedule?.beginCheck() }
    let failure = await noAnswer { try await self.check(trigger) }
    background.withLock { $0.schedule?.endCheck(failure, isUnread: session.isUnread, jitter: Self.jitter) }
  }

  private func noAnswer(_ call: () async throws -> Void) async -> NoAnswer? {
    do {
      try await call()
      return nil
    } catch LatchkeyError.noAnswer(let failure) {
      return failure
    } catch {
      return nil  // The service answered, or the checks end.
    }
  }

  static var jitter: Double { .random(in: 0.9...1.1) }
}
