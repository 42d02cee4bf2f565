import Foundation

/// What is kept between two runs: the file license.json, which the clients of all languages read.
struct Kept: Sendable, Equatable {
  var key: String?
  var activationID: String?
  var entitlement: String?
  var keys: [PublicKey] = []
  var refused: KeptRefusal?
  var clock = ServiceClock()
  var machine: Fingerprint?
  var installID: String?
  var sharing: Bool?
  var release: Activation?
  var request: OpenRequest?
  var trialWanted = false
  var lastAnswerAt: String?
  /// All fields of the file: those of other versions survive.
  var others: [String: JSON] = [:]

  var machineID: String { machine?.machineID ?? "" }

  /// Whether there is a key or an entitlement.
  var isActivated: Bool { key != nil || entitlement != nil }

  /// Nil without a license that the service knows.
  var activation: Activation? {
    guard let key, let activationID else { return nil }
    return Activation(key: key, activationID: activationID, machineID: machineID)
  }

  /// What remains after a deactivation.
  var withoutLicense: Kept {
    var left = self
    left.key = nil
    left.activationID = nil
    left.entitlement = nil
    left.refused = nil
    left.release = nil
    left.request = nil
    left.trialWanted = false
    return left
  }
}

extension Kept {
  /// The machine of this activation is wanted again: it is not released any more.
  mutating func cancelRelease(of activationID: String?) {
    if let release, release.activationID == activationID { self.release = nil }
  }

  /// Returns a new reading, else the last good one, else nil. A random identity stays while a license uses it.
  func chooseMachine(_ reading: Fingerprint?) -> Fingerprint? {
    if let machine, reading == nil || (machine.isGenerated && isActivated) { return machine }
    return reading
  }

  /// Returns the content of a file that could not be read at first, with the changes of the run since then. A trial of the run does
  /// not replace a license.
  /// - Parameter hasOwnLicense: whether the run activated a license, apart from a trial, or removed it again
  func joined(with run: Kept, hasOwnLicense: Bool) -> Kept {
    var joined = self
    let isTrialKept = !isActivated || run.activationID == activationID
    if hasOwnLicense || (run.isActivated && isTrialKept) {
      joined.replaceLicense(with: run)
    } else {
      joined.keepLicense(beside: run)
    }
    joined.clock.join(run.clock)
    joined.lastAnswerAt = run.lastAnswerAt ?? lastAnswerAt
    return joined
  }

  private mutating func replaceLicense(with run: Kept) {
    let isSame = run.entitlement != nil && run.activationID == activationID
    // The answer to a machine without a connection has no key.
    key = run.key ?? (isSame ? key : nil)
    activationID = run.activationID
    entitlement = run.entitlement
    refused = run.refused
    request = run.request
    trialWanted = run.trialWanted
    cancelRelease(of: run.activationID)
    release = run.release ?? release
    if !run.keys.isEmpty { keys = run.keys }
    machine = run.machine ?? machine
  }

  private mutating func keepLicense(beside run: Kept) {
    cancelRelease(of: run.activationID)
    release = run.release ?? release
    request = run.request ?? request
    trialWanted = trialWanted || (run.trialWanted && !isActivated)
    if keys.isEmpty { keys = run.keys }
    // A system that cannot read the file may not have read the machine either.
    let reading = run.machine.flatMap { $0.isGenerated ? nil : $0 }
    machine = chooseMachine(reading) ?? run.machine
  }
}

struct KeptRefusal: Sendable, Equatable {
  let reason: String
  let at: String?
}

/// What a check or a deactivation is about.
struct Activation: Sendable, Equatable {
  let key: String
  let activationID: String
  let machineID: String

  var question: [String: JSON] {
    ["license_key": .text(key), "activation_id": .text(activationID), "machine_id": .text(machineID)]
  }
}

/// The request of a machine without a connection.
struct OpenRequest: Sendable, Equatable {
  let nonce: String
  let createdAt: String?
}

extension Kept {
  /// Reads the file. A field of another type counts as absent.
  init(_ file: [String: JSON]) {
    key = file["key"]?.text.nonEmpty
    activationID = file["activation_id"]?.text.nonEmpty
    entitlement = file["entitlement"]?.text.nonEmpty
    keys = PublicKey.read(file["keys"])
    refused = file["refused"].flatMap(KeptRefusal.init)
    clock.offset = file["clock"]?["offset_ms"]?.integer ?? 0
    clock.latest = file["clock"]?["latest_ms"]?.integer ?? 0
    machine = file["machine"].flatMap(Fingerprint.init)
    installID = file["install_id"]?.text.nonEmpty
    sharing = file["sharing"]?.bool
    release = file["release"].flatMap(Activation.init)
    request = file["request"].flatMap(OpenRequest.init)
    trialWanted = file["trial_wanted"]?.bool ?? false
    lastAnswerAt = file["last_answer_at"]?.text.nonEmpty
    others = file
  }

  var json: JSON {
    let fields: [String: JSON] = [
      "version": 1,
      "key": .optional(key),
      "activation_id": .optional(activationID),
      "entitlement": .optional(entitlement),
      "keys": .list(keys.map(\.json)),
      "refused": refused?.json ?? .null,
      "clock": ["offset_ms": .integer(clock.offset), "latest_ms": .integer(clock.latest)],
      "machine": machine.map { .object($0.fields) } ?? .null,
      "install_id": .optional(installID),
      "sharing": sharing.map { .bool($0) } ?? .null,
      "release": release?.json ?? .null,
      "request": request?.json ?? .null,
      "trial_wanted": .bool(trialWanted),
      "last_answer_at": .optional(lastAnswerAt),
    ]
    return .object(others.merging(fields) { _, own in own })
  }
}

extension KeptRefusal {
  init?(_ json: JSON) {
    guard let reason = json["reason"]?.text.nonEmpty else { return nil }
    self.init(reason: reason, at: json["at"]?.text)
  }

  var json: JSON { ["reason": .text(reason), "at": .optional(at)] }
}

extension Activation {
  init?(_ json: JSON) {
    guard let key = json["key"]?.text.nonEmpty, let activationID = json["activation_id"]?.text.nonEmpty,
      let machineID = json["machine_id"]?.text.nonEmpty
    else { return nil }
    self.init(key: key, activationID: activationID, machineID: machineID)
  }

  var json: JSON {
    ["key": .text(key), "activation_id": .text(activationID), "machine_id": .text(machineID)]
  }
}

extension OpenRequest {
  init?(_ json: JSON) {
    guard let nonce = json["nonce"]?.text.nonEmpty else { return nil }
    self.init(nonce: nonce, createdAt: json["created_at"]?.text)
  }

  var json: JSON { ["nonce": .text(nonce), "created_at": .optional(createdAt)] }
}

extension String? {
  var nonEmpty: String? { self == "" ? nil : self }
}
