import Foundation

/// Why a call did not work. A cancelled call throws `CancellationError` instead.
public enum LatchkeyError: Error, Sendable, Equatable {
  /// The service did not answer. Nothing changed; try again later.
  case noAnswer(NoAnswer)
  /// The service refused, or this program has nothing to ask it for.
  case refused(Refusal)

  /// The code of the refusal, or `no_answer`.
  public var code: String {
    switch self {
    case .noAnswer: "no_answer"
    case .refused(let refusal): refusal.code
    }
  }

  static func refused(_ code: String) -> LatchkeyError {
    .refused(Refusal(code: code))
  }

  static func noAnswer(_ cause: NoAnswer.Cause, _ detail: String) -> LatchkeyError {
    .noAnswer(NoAnswer(cause: cause, detail: detail))
  }

  static let otherForm = LatchkeyError.noAnswer(.portal, "JSON of another form")
}

extension LatchkeyError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .noAnswer(let failure): "no answer of the license service (\(failure.cause.rawValue))"
    case .refused(let refusal): refusal.code
    }
  }

  public var errorDescription: String? { description }
}

/// Why the service did not answer.
public struct NoAnswer: Sendable, Equatable {
  public enum Cause: String, Sendable {
    case dns, connection, tls, proxy, timeout, busy, portal
  }

  public let cause: Cause
  /// How long the service asked to wait.
  public internal(set) var retryAfter: Duration?
  let detail: String

  init(cause: Cause, detail: String) {
    self.cause = cause
    self.detail = "\(cause.rawValue): \(detail)"
  }
}

/// A refusal of the service, or of this client.
public struct Refusal: Sendable, Equatable {
  /// A code of the service, or `key_mistyped`, `not_activated`, `folder_unreadable`, `already_licensed`, `entitlement_…`.
  public let code: String
  /// How many are allowed.
  public internal(set) var max: Int?
  /// How many there are.
  public internal(set) var current: Int?
  /// When the next one is possible.
  public internal(set) var availableAt: Date?
  /// Nil if this client refused.
  var status: Int?
  var date: Int64?

  init(code: String) {
    self.code = code
  }

  /// Returns whether the service refuses the license, and not a path, and not something between.
  var isAboutLicense: Bool {
    let prefixes = ["license_", "activation_", "machine_", "trial_"]
    return (status == 403 || status == 404) && prefixes.contains { code.hasPrefix($0) }
  }
}
