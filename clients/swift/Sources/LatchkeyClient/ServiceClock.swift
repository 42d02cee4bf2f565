/// What is known of the time of the service, in milliseconds.
package struct ServiceClock: Sendable, Equatable {
  private static let tolerance: Int64 = 5 * 60_000
  private static let wentBack: Int64 = 60 * 60_000
  private static let latestAfterIssue: Int64 = 65 * 60_000

  var offset: Int64 = 0
  var latest: Int64 = 0

  package init(offset: Int64 = 0, latest: Int64 = 0) {
    self.offset = offset
    self.latest = latest
  }

  /// Returns the present time, and whether the clock of the device went back.
  package func read(device: Int64) -> (now: Int64, wentBack: Bool) {
    let now = device + offset
    return (max(now, latest), now < latest - Self.wentBack)
  }

  package mutating func learn(device: Int64, service: Int64) {
    let difference = service - device
    offset = abs(difference) < Self.tolerance ? 0 : difference
    latest = max(latest, service)
  }

  /// Adds what a run learnt before the clock of the file could be read.
  mutating func join(_ run: ServiceClock) {
    if run.latest > 0 { offset = run.offset }
    latest = max(latest, run.latest)
  }

  /// Returns the time of an answer: its header Date, which no signature protects, if that fits the entitlement.
  static func serviceTime(date: Int64?, issued: Int64) -> Int64 {
    guard let date, (issued...issued + latestAfterIssue).contains(date) else { return issued }
    return date
  }
}
