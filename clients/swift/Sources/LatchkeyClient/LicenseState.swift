import Foundation

/// What the program may do now, and why.
public struct LicenseState: Sendable, Equatable {
  public enum Kind: String, Sendable {
    /// It may run.
    case licensed
    /// It may run.
    case trial
    /// There is no license, or none of this machine.
    case none
    /// The entitlement ended: `reason` is `license_expired` if the license did, too.
    case ended
    /// The service refused the license: `reason` is its code.
    case refused
  }

  public enum Source: String, Sendable {
    case service
    case kept
  }

  public internal(set) var mayRun = false
  public internal(set) var kind = Kind.none
  /// Why the program may not run: a code.
  public internal(set) var reason: String?
  public internal(set) var tier: String?
  /// Empty unless the program may run.
  public internal(set) var features: [String] = []
  /// The end of the entitlement.
  public internal(set) var until: Date?
  /// The number of whole days until then, rounded up.
  public internal(set) var daysLeft: Int?
  /// `service` if the last question to it since the start was answered.
  public internal(set) var source = Source.kept
  /// The time of the service in its last answer.
  public internal(set) var lastAnswerAt: Date?
  /// Ask the user to correct the clock. Nothing is locked.
  public internal(set) var clockWentBack = false

  /// Returns whether a program that shows the state must show it again; who answered last, and when, is no change.
  func differs(from other: LicenseState) -> Bool {
    var compared = self
    compared.source = other.source
    compared.lastAnswerAt = other.lastAnswerAt
    return compared != other
  }
}

/// What a state is derived from. It is replaced as a whole, so that any thread may read it.
struct Snapshot: Sendable {
  var kept = Kept()
  /// Those of the kept entitlement; nil if it is not genuine.
  var claims: Claims?
  var isAnswered = false

  private static let day: Int64 = 86_400_000

  func state(device: Int64) -> LicenseState {
    let (now, wentBack) = kept.clock.read(device: device)
    var state = LicenseState()
    state.source = isAnswered ? .service : .kept
    state.lastAnswerAt = Times.parse(kept.lastAnswerAt)
    state.clockWentBack = wentBack
    if !kept.isActivated {
      state.reason = "not_activated"
    } else if let refused = kept.refused {
      state.kind = .refused
      state.reason = refused.reason
    } else if let claims, !claims.isEarly(now: now) {
      Self.addTerms(of: claims, now: now, to: &state)
    } else {
      state.reason = "entitlement_invalid"
    }
    return state
  }

  private static func addTerms(of claims: Claims, now: Int64, to state: inout LicenseState) {
    let left = claims.end * 1000 - now
    state.tier = claims.tier
    state.until = Times.date(of: claims.end * 1000)
    // An Int has 32 bits on some watches.
    state.daysLeft = left > 0 ? Int(clamping: (left - 1) / day + 1) : 0
    guard left > 0 else {
      let hasLicenseEnded = claims.licenseEnd.map { $0 * 1000 <= now } ?? false
      state.kind = .ended
      state.reason = hasLicenseEnded ? "license_expired" : "entitlement_expired"
      return
    }
    state.mayRun = true
    state.kind = claims.isTrial ? .trial : .licensed
    state.features = claims.features
  }
}
