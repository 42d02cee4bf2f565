import Foundation
import LatchkeyClient

/// Executes the commands of the conformance run for one client, which `open` opens.
@main
struct Driver {
  private static let commands = [
    "open", "clock", "state", "activate", "trial", "check", "deactivate", "move_here", "machines", "offline_request",
    "accept_offline", "explain", "verify", "key", "clock_steps", "fingerprint", "close",
  ]

  private let device = DeviceClock()
  private let problems = Problems()
  private var client: Latchkey?

  static func main() async throws {
    var driver = Driver()
    while let line = readLine() {
      guard let command = JSON(parsing: Data(line.utf8)), let name = command["do"]?.text else {
        throw Failure.noCommand
      }
      let answer = try await driver.answer(name, command)
      FileHandle.standardOutput.write(JSON.object(answer).encoded() + Data("\n".utf8))
      if name == "close" { return }
    }
  }

  private mutating func answer(_ name: String, _ command: JSON) async throws -> [String: JSON] {
    switch name {
    case "hello":
      return [
        "client": "swift", "version": .text(Latchkey.version), "supports": .list(Self.commands.map { .text($0) }),
      ]
    case "verify": return ["verdict": .text(Self.verify(command))]
    case "key": return Self.readKey(command["text"]?.text ?? "")
    case "clock_steps": return ["steps": .list(Self.stepClock(command["steps"]?.list ?? []))]
    case "fingerprint": return ["machine_id": .optional(Self.findMachineID(command))]
    case "open":
      device.set(command["now_ms"]?.integer)
      client = try open(command)
    case "clock":
      device.set(command["now_ms"]?.integer)
    case "state": break
    case "explain": return ["text": .text(try opened().explain())]
    case "close":
      await client?.close()
      return [:]
    default:
      guard Self.commands.contains(name) else { return ["unsupported": true] }
      return try withState(["result": .object(await call(name, command))])
    }
    return try withState([:])
  }

  private func open(_ command: JSON) throws -> Latchkey {
    var options = Options(
      service: command["service"]?.text ?? "", issuer: command["issuer"]?.text ?? "",
      products: (command["products"]?.list ?? []).compactMap(\.text),
      publicKeys: PublicKey.read(command["public_keys"]),
      folder: URL(fileURLWithPath: command["folder"]?.text ?? ""), appVersion: command["app_version"]?.text ?? "")
    options.machine = command["machine"].flatMap(Fingerprint.init)
    if let timeout = command["timeout_ms"]?.integer { options.timeout = .milliseconds(timeout) }
    options.now = { [device] in device.now }
    options.onProblem = { [problems] code, message in problems.add(code, message) }
    return try Latchkey(options)
  }

  private func opened() throws -> Latchkey {
    guard let client else { throw Failure.notOpen }
    return client
  }

  /// Returns the result of a call.
  private func call(_ name: String, _ command: JSON) async throws -> [String: JSON] {
    do {
      let content = try await callClient(name, command)
      return content.merging(["ok": true]) { _, ok in ok }
    } catch LatchkeyError.noAnswer(let failure) {
      return ["ok": false, "code": "no_answer", "cause": .text(failure.cause.rawValue)]
    } catch LatchkeyError.refused(let refusal) {
      var result: [String: JSON] = ["ok": false, "code": .text(refusal.code)]
      result["max"] = refusal.max.map { .integer(Int64($0)) }
      result["current"] = refusal.current.map { .integer(Int64($0)) }
      result["available_at"] = refusal.availableAt.map { .text($0.written) }
      return result
    }
  }

  private func callClient(_ name: String, _ command: JSON) async throws -> [String: JSON] {
    let client = try opened()
    switch name {
    case "activate": try await client.activate(command["key"]?.text ?? "")
    case "trial": try await client.startTrial()
    case "check": try await client.check(command["trigger"]?.text.flatMap(Trigger.init) ?? .manual)
    case "deactivate": try await client.deactivate()
    case "move_here": try await client.moveHere(from: command["activation_id"]?.text ?? "")
    case "accept_offline": try await client.acceptOffline(command["text"]?.text ?? "")
    case "offline_request":
      let product = command["product"]?.text ?? ""
      return ["request": .text(try await client.offlineRequest(product: product, name: command["name"]?.text))]
    default:
      return ["machines": .list(try await client.machines().map(Self.describe))]
    }
    return [:]
  }

  private static func describe(_ machine: Machine) -> JSON {
    [
      "activation_id": .text(machine.activationID), "is_active": .bool(machine.isActive),
      "is_this": .bool(machine.isThis),
    ]
  }

  private func withState(_ answer: [String: JSON]) throws -> [String: JSON] {
    let state = try opened().state
    var answer = answer
    answer["state"] = [
      "may_run": .bool(state.mayRun), "kind": .text(state.kind.rawValue), "reason": .optional(state.reason),
      "tier": .optional(state.tier), "features": .list(state.features.map { .text($0) }),
      "until": .optional(state.until?.written), "days_left": state.daysLeft.map { .integer(Int64($0)) } ?? .null,
      "source": .text(state.source.rawValue), "last_answer_at": .optional(state.lastAnswerAt?.written),
      "clock_went_back": .bool(state.clockWentBack),
    ]
    let codes = problems.take()
    if !codes.isEmpty { answer["problems"] = .list(codes.map { .text($0) }) }
    return answer
  }
}

// Commands that need no client.
extension Driver {
  private static func verify(_ command: JSON) -> String {
    let trust = Trust(
      keys: PublicKey.read(command["public_keys"]), issuer: command["issuer"]?.text ?? "",
      products: (command["products"]?.list ?? []).compactMap(\.text), machineID: command["machine_id"]?.text ?? "")
    do {
      let now = command["now_ms"]?.integer ?? 0
      try trust.verify(command["token"]?.text ?? "", now: now, nonce: command["nonce"]?.text)
      return "ok"
    } catch {
      return error.rawValue
    }
  }

  private static func readKey(_ text: String) -> [String: JSON] {
    switch LicenseKey(typed: text) {
    case .ok(let key): ["verdict": "ok", "key": .text(key)]
    case .mistyped: ["verdict": "mistyped", "key": .null]
    case .foreign(let key): ["verdict": "foreign", "key": .text(key)]
    }
  }

  private static func stepClock(_ steps: [JSON]) -> [JSON] {
    var clock = ServiceClock()
    return steps.map { step in
      let device = step["device_ms"]?.integer ?? 0
      if let service = step["service_ms"]?.integer { clock.learn(device: device, service: service) }
      let (now, wentBack) = clock.read(device: device)
      return ["now_ms": .integer(now), "clock_went_back": .bool(wentBack)]
    }
  }

  private static func findMachineID(_ command: JSON) -> String? {
    let source = command["source"]?.text.flatMap(MachineSource.init)
    return source?.findID(in: command["text"]?.text ?? "")
  }
}

private enum Failure: Error { case noCommand, notOpen }

/// The clock of the device, which stands still at a time of the run.
private final class DeviceClock: @unchecked Sendable {
  private let lock = NSLock()
  private var standing: Date?

  var now: Date { lock.withLock { standing } ?? Date() }

  func set(_ milliseconds: Int64?) {
    lock.withLock { standing = milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) } }
  }
}

/// The problems that the run compares, since the last answer.
private final class Problems: @unchecked Sendable {
  private let lock = NSLock()
  private var codes: [String] = []

  func add(_ code: String, _ message: String) {
    FileHandle.standardError.write(Data("\(code): \(message)\n".utf8))
    if ["file_damaged", "folder_unwritable"].contains(code) { lock.withLock { codes.append(code) } }
  }

  func take() -> [String] {
    lock.withLock {
      defer { codes = [] }
      return codes
    }
  }
}

extension Date {
  /// RFC 3339, in seconds.
  fileprivate var written: String { formatted(.iso8601) }
}
