import Foundation

extension Session {
  /// Describes a client for support, without key except its last group, token and machine id.
  func explain() -> String {
    let lines = describeLicense() + describeProgram() + problems.map { ("problem", $0) }
    return lines.compactMap { name, value in value.nonEmpty.map { "\(name): \($0)\n" } }.joined()
  }

  private func describeLicense() -> [(String, String?)] {
    let kept = kept
    let state = state
    return [
      ("state", [state.kind.rawValue, state.reason].compactMap { $0 }.joined(separator: ", ")),
      ("tier", state.tier),
      ("features", state.features.joined(separator: ", ")),
      ("until", state.until.map { Times.format(Times.milliseconds(of: $0)) }),
      ("key", kept.key.map { $0.count > 5 ? "…\($0.suffix(5))" : "" }),
      ("machine", "\(hashText(kept.machineID).prefix(8)) (SHA-256)"),
      ("last question", lastQuestion),
      ("last answer", kept.lastAnswerAt),
      ("refused", kept.refused.map { [$0.reason, $0.at].compactMap { $0 }.joined(separator: " at ") }),
      ("waiting", kept.describeWaiting()),
      ("warning", state.clockWentBack ? "the clock of the device was set back" : nil),
    ]
  }

  private func describeProgram() -> [(String, String?)] {
    [
      ("time", Times.format(now)),
      ("device clock", Times.format(device)),
      ("service", options.service),
      ("program", options.appVersion),
      ("client", "latchkey for Swift \(Latchkey.version), \(ProcessInfo.processInfo.operatingSystemVersionString)"),
    ]
  }
}

extension Kept {
  fileprivate func describeWaiting() -> String {
    let waiting = [
      release == nil ? nil : "to be freed",
      trialWanted ? "trial to be started" : nil,
      request == nil ? nil : "request without a connection",
    ]
    return waiting.compactMap { $0 }.joined(separator: ", ")
  }
}
