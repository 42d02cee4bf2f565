import Foundation

// The calls of a client, of which one runs at a time.
extension Session {
  /// Runs a call, and notes whether the service answered.
  func attempt<Value>(_ call: (Session) async throws -> Value) async -> Result<Value, any Error> {
    try? readAgain()  // The failure was reported when the client was opened.
    do {
      return .success(try await call(self))
    } catch {
      switch error as? LatchkeyError {
      case .noAnswer(let failure): noteAnswer(false, failure.detail)
      case .refused(let refusal) where refusal.status != nil: noteAnswer(true, "refused: \(refusal.code)")
      default: break
      }
      return .failure(error)
    }
  }

  /// Refuses a call that needs a license: there is none, or it could not be read.
  private var refusalOfUnactivated: LatchkeyError { .refused(isUnread ? "folder_unreadable" : "not_activated") }

  func activate(typed: String) async throws {
    guard let key = LicenseKey(typed: typed).sent else { throw LatchkeyError.refused("key_mistyped") }
    try await activate(key)
  }

  private func activate(_ key: String) async throws {
    do {
      let question = identity.merging(["license_key": .text(key)]) { _, key in key }
      try await acceptActivation(ask("\(Self.licensesPath)/activate", question), key)
      wantedKey = nil
    } catch let error as LatchkeyError where ["activation_limit_reached", "move_limit_reached"].contains(error.code) {
      wantedKey = key  // The user chooses a machine to free.
      throw error
    }
  }

  private func acceptActivation(_ answer: Answer, _ key: String?) async throws {
    guard let key, let activationID = answer.body["activation_id"]?.text.nonEmpty else {
      throw LatchkeyError.otherForm
    }
    var granted = try await grant(answer)
    granted.key = key
    granted.activationID = activationID
    granted.request = nil
    granted.trialWanted = false
    granted.cancelRelease(of: activationID)
    noteAnswer(true)
    change(granted)
  }

  func startTrial() async throws {
    if state.kind == .licensed { throw LatchkeyError.refused("already_licensed") }
    do {
      try await askForTrial()
    } catch let error as LatchkeyError {
      // A cancelled call changes nothing: the program may end while a trial waits for the service.
      noteTrial(isWanted: error.code == "no_answer" && kept.key == nil)
      throw error
    }
    noteTrial(isWanted: false)
  }

  private func noteTrial(isWanted: Bool) {
    if isWanted != kept.trialWanted { change { $0.trialWanted = isWanted } }
  }

  private func askForTrial() async throws {
    let answer = try await ask("/api/v1/trial/start", identity)
    if answer.body["activation_id"]?.text != nil, answer.body["entitlement"] == .null {
      noteAnswer(true)
      throw LatchkeyError.refused(answer.body["status"]?.text == "expired" ? "trial_expired" : "trial_unavailable")
    }
    try await acceptActivation(answer, answer.body["license_key"]?.text.nonEmpty)
  }

  func check(_ trigger: Trigger) async throws {
    try await releaseMachine()
    guard let activation = kept.activation else {
      if kept.trialWanted { return try await startTrial() }
      throw refusalOfUnactivated
    }
    var question = activation.question
    question["trigger"] = .text(trigger.rawValue)
    question["install_id"] = kept.installID.map { .text($0) }
    question["usage_sharing"] = kept.sharing.map { .bool($0) }
    do {
      try await acceptValidation(ask("\(Self.licensesPath)/validate", question))
    } catch LatchkeyError.refused(let refusal) where refusal.isAboutLicense {
      throw acceptRefusal(refusal.code, refusal.date)
    }
  }

  private func acceptValidation(_ answer: Answer) async throws {
    guard let isValid = answer.body["valid"]?.bool else { throw LatchkeyError.otherForm }
    if !isValid, let reason = answer.body["reason"]?.text { throw acceptRefusal(reason, answer.date) }
    guard isValid else { throw LatchkeyError.otherForm }
    let granted = try await grant(answer)
    noteAnswer(true)
    change(granted)
  }

  /// Keeps a refusal of the license, and returns it as an error.
  private func acceptRefusal(_ reason: String, _ date: Int64?) -> LatchkeyError {
    let at = Times.format(date ?? now)
    noteAnswer(true)
    change { kept in
      kept.lastAnswerAt = at
      kept.refused = KeptRefusal(reason: reason, at: at)
    }
    return .refused(reason)
  }

  func deactivate() async throws {
    guard let activation = kept.activation else { throw refusalOfUnactivated }
    change { $0.release = activation }
    try await releaseMachine()
  }

  /// Frees the machine that waits for it. What the service does not know is free, too.
  private func releaseMachine() async throws {
    guard let release = kept.release else { return }
    do {
      try await free(release)
    } catch LatchkeyError.refused(let refusal) where refusal.isAboutLicense {
      // It is free.
    } catch let error as LatchkeyError {
      if case .refused = error { change { $0.release = nil } }
      throw error
    }
    noteAnswer(true)
    change { kept in
      if release.activationID == kept.activationID { kept = kept.withoutLicense }
      kept.release = nil
    }
  }

  /// Deactivates a machine.
  private func free(_ machine: Activation) async throws {
    let answer = try await ask("\(Self.licensesPath)/deactivate", machine.question)
    guard answer.body["success"]?.bool == true else { throw LatchkeyError.otherForm }
  }

  /// Returns the key whose machines matter now, and these.
  func listMachines() async throws -> (key: String, machines: [Machine]) {
    guard let key = wantedKey ?? kept.key else { throw refusalOfUnactivated }
    let answer = try await ask("\(Self.licensesPath)/\(Self.encodePath(key))/activations")
    guard let list = answer.body.list else { throw LatchkeyError.otherForm }
    let machines = try list.map { listed in
      guard let machine = Machine(listed, this: kept) else { throw LatchkeyError.otherForm }
      return machine
    }
    noteAnswer(true)
    return (key, machines)
  }

  func moveHere(_ activationID: String) async throws {
    let (key, machines) = try await listMachines()
    guard let machine = machines.first(where: { $0.activationID == activationID }) else {
      throw LatchkeyError.refused("activation_not_found")
    }
    if machine.isActive {
      try await free(Activation(key: key, activationID: activationID, machineID: machine.machineID))
    }
    try await activate(key)
  }

  func activatePurchase(_ transactionID: String) async throws {
    let answer = try await ask("\(Self.licensesPath)/check/\(Self.encodePath(transactionID))")
    guard let status = answer.body["status"]?.text else { throw LatchkeyError.otherForm }
    noteAnswer(true)
    let listed = [answer.body] + (answer.body["licenses"]?.list ?? [])
    if let key = listed.lazy.compactMap({ $0["license_key"]?.text.nonEmpty }).first {
      return try await activate(typed: key)
    }
    throw LatchkeyError.refused(status == "pending" ? "purchase_pending" : "key_not_shown")
  }

  private static func encodePath(_ text: String) -> String {
    let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}

// Machines without a connection.
extension Session {
  private static let nonceBytes = 16
  private static let checkCharacters = 10

  func offlineRequest(_ product: String, _ name: String?) -> String {
    let nonce = kept.request?.nonce ?? createNonce()
    let content: JSON = [
      "product": .text(product), "machine_fingerprint": fingerprint, "nonce": .text(nonce), "name": .optional(name),
    ]
    let text = "LKR1.\(Base64URL.encode(content.encoded()))"
    return "\(text).\(hashText(text).prefix(Self.checkCharacters))"
  }

  private func createNonce() -> String {
    var random = SystemRandomNumberGenerator()
    let nonce = Base64URL.encode((0..<Self.nonceBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    let createdAt = Times.format(now)
    change { $0.request = OpenRequest(nonce: nonce, createdAt: createdAt) }
    return nonce
  }

  func acceptOffline(_ text: String) throws {
    do throws(Verdict) {
      guard let token = Self.findToken(text) else { throw Verdict.malformed }
      let claims = try verify(token, kept).get()
      try claims.checkTime(now: now)
      guard let request = kept.request, request.nonce == claims.nonce else { throw Verdict.nonce }
      acceptClaims(claims, token)
    } catch {
      throw LatchkeyError.refused("entitlement_\(error.rawValue)")
    }
  }

  private func acceptClaims(_ claims: Claims, _ token: String) {
    change { kept in
      if claims.activationID != kept.activationID { kept.key = nil }
      kept.entitlement = token
      kept.activationID = claims.activationID
      kept.refused = nil
      kept.request = nil
      kept.trialWanted = false
      kept.cancelRelease(of: claims.activationID)
    }
  }

  /// Finds an entitlement in a text that was mailed: a header begins with `{"`, and a signature has 64 bytes.
  private static func findToken(_ text: String) -> String? {
    let visible = text.unicodeScalars.filter { scalar in
      !scalar.properties.isWhitespace && ![">", "\u{200B}", "\u{FEFF}"].contains(scalar)
    }
    let token = /eyJ[A-Za-z0-9_\-]+\.eyJ[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]{86}/
    return String(String.UnicodeScalarView(visible)).firstMatch(of: token).map { String($0.output) }
  }
}
