// A program with a license: `swift run LatchkeyExample help` lists what it does.
import Foundation
import LatchkeyClient

let settings = ProcessInfo.processInfo.environment
let service = settings["LICENSE_SERVICE"] ?? "http://127.0.0.1:8080"
let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".example-program")

var options = Options(
  service: service,
  issuer: settings["LICENSE_ISSUER"] ?? service,
  products: ["personal", "sellers"],
  publicKeys: [],  // compile in those of /.well-known/jwks.json of your service
  folder: settings["LICENSE_FOLDER"].map { URL(fileURLWithPath: $0) } ?? home,
  appVersion: "1.0.0")
options.onProblem = { code, message in FileHandle.standardError.write(Data("\(code): \(message)\n".utf8)) }

let license = try Latchkey(options)
let arguments = CommandLine.arguments.dropFirst()
await run(arguments.first ?? "state", arguments.dropFirst().first ?? "")
await license.close()

func run(_ command: String, _ argument: String) async {
  switch command {
  case "state": print(describe(license.state))
  case "activate": await report { try await license.activate(argument) }
  case "trial": await report { try await license.startTrial() }
  case "check": await report { try await license.check() }
  case "machines": await showMachines()
  case "move": await report { try await license.moveHere(from: argument) }
  case "deactivate": await report { try await license.deactivate() }
  case "explain": print(license.explain(), terminator: "")
  default: print("Commands: state, activate, trial, check, machines, move, deactivate, explain, help")
  }
}

func describe(_ state: LicenseState) -> String {
  switch state.kind {
  case .licensed: "Licensed: \(state.tier ?? ""). Runs without a network for \(state.daysLeft ?? 0) days."
  case .trial: "Trial: \(state.daysLeft ?? 0) days left."
  case .none where state.reason == "not_activated": "No license yet: activate KEY, or trial."
  default: "May not run: \(state.reason ?? "")."
  }
}

func report(_ call: () async throws -> Void) async {
  do {
    try await call()
    print(describe(license.state))
  } catch LatchkeyError.noAnswer(let failure) {
    print("No answer of the service: \(failure.cause.rawValue).")
  } catch LatchkeyError.refused(let refusal) {
    print("Refused: \(refusal.code).")
  } catch {
    print("Cancelled.")
  }
}

func showMachines() async {
  do {
    for machine in try await license.machines() {
      let words = [machine.activationID, machine.isActive ? "active" : "free", machine.isThis ? "(this one)" : ""]
      print(words.filter { !$0.isEmpty }.joined(separator: "  "))
    }
  } catch {
    await report { throw error }
  }
}
