import Foundation
import Testing

@testable import LatchkeyClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif
#if canImport(CryptoKit)
  import CryptoKit
#else
  import CLatchkeyCrypto
#endif

let issuer = "https://license.example.com"
let machineID = "4c4c4544-0044"
let licenseKey = "LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WV94"
let activationID = "0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d"
/// 2027-01-15T08:00:00Z
let start = Date(timeIntervalSince1970: 1_800_000_000)

/// A key of a service.
struct Signer {
  static let service = Signer(seed: "the signer of the tests")

  private let seed: [UInt8]
  let publicKey: PublicKey

  init(seed text: String) {
    seed = Base64URL.decode(hashText(text)) ?? []
    let x = Base64URL.encode(Self.publicKey(of: seed))
    publicKey = PublicKey(x: x, kid: hashText(x))
  }

  /// Signs an entitlement of 14 days with changed claims, under the id of this key or another one.
  func sign(_ changes: [String: JSON] = [:], kid: String? = nil) -> String {
    let now = Int64(start.timeIntervalSince1970)
    let claims: [String: JSON] = [
      "iss": .text(issuer), "aud": "personal", "iat": .integer(now), "nbf": .integer(now),
      "exp": .integer(now + 14 * 86_400), "activation_id": .text(activationID), "machine": .text(hashText(machineID)),
      "tier": "personal", "features": ["history", "gpu"], "license_expires_at": .null, "trial": false,
    ]
    let header: JSON = ["alg": "EdDSA", "kid": .text(kid ?? publicKey.kid), "typ": "entitlement+jwt"]
    let payload = JSON.object(claims.merging(changes) { _, changed in changed })
    let text = [header, payload].map { Base64URL.encode($0.encoded()) }.joined(separator: ".")
    return "\(text).\(Base64URL.encode(sign(Array(text.utf8))))"
  }

  #if canImport(CryptoKit)
    private static func publicKey(of seed: [UInt8]) -> [UInt8] {
      let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
      return key.map { Array($0.publicKey.rawRepresentation) } ?? []
    }

    private func sign(_ message: [UInt8]) -> [UInt8] {
      let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
      return (try? key?.signature(for: message)).map { Array($0) } ?? []
    }
  #else
    private static func publicKey(of seed: [UInt8]) -> [UInt8] {
      let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
      defer { EVP_PKEY_free(key) }
      var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
      EVP_PKEY_get_raw_public_key(key, &bytes, &count)
      return bytes
    }

    private func sign(_ message: [UInt8]) -> [UInt8] {
      let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
      let context = EVP_MD_CTX_new()
      defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
      }
      var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
      EVP_DigestSignInit(context, nil, nil, nil, key)
      EVP_DigestSign(context, &bytes, &count, message, message.count)
      return bytes
    }
  #endif
}

/// An answer of the network: status, content type and body.
struct Response: Sendable {
  let status: Int
  let type: String
  let body: Data

  static func text(_ status: Int, _ body: String, type: String = "application/json") -> Response {
    Response(status: status, type: type, body: Data(body.utf8))
  }

  static func json(_ json: JSON, status: Int = 200, type: String = "application/json") -> Response {
    Response(status: status, type: type, body: json.encoded())
  }

  static func page(_ status: Int) -> Response { text(status, "<html>Please sign in</html>", type: "text/html") }

  static func problem(_ status: Int, _ code: String) -> Response {
    json(
      ["status": .integer(Int64(status)), "code": .text(code), "max": 3], status: status,
      type: "application/problem+json")
  }

  static var activated: Response {
    json(["activation_id": .text(activationID), "entitlement": .text(Signer.service.sign())])
  }

  static func validated(_ token: String = Signer.service.sign()) -> Response {
    json(["valid": true, "entitlement": .text(token)])
  }
}

/// A request that a client sent.
struct Sent: Sendable {
  let path: String
  let body: JSON?
}

/// Stands for the network and the service. Without an answer, it refuses connections.
final class TestService: Sendable {
  private struct Memory {
    var answer: @Sendable (Sent) async throws -> Response
    var sent: [Sent] = []
  }

  private let memory = Locked(Memory { _ in throw URLError(.cannotConnectToHost) })

  var sent: [Sent] { memory.withLock(\.sent) }

  func answer(_ answer: @escaping @Sendable (Sent) async throws -> Response) {
    memory.withLock { $0 = Memory(answer: answer) }
  }

  func answer(with response: Response) {
    answer { _ in response }
  }

  func fail(with code: URLError.Code) {
    answer { _ in throw URLError(code) }
  }

  @Sendable func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
    let url = try #require(request.url)
    let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? ""
    let sent = Sent(path: path, body: request.httpBody.flatMap(JSON.init(parsing:)))
    let answer = memory.withLock { memory in
      memory.sent.append(sent)
      return memory.answer
    }
    let response = try await answer(sent)
    let fields = ["Content-Type": response.type]
    let head = HTTPURLResponse(url: url, statusCode: response.status, httpVersion: nil, headerFields: fields)
    return (response.body, try #require(head))
  }
}

/// A folder of a program, with its service and its clock.
final class World: Sendable {
  let service = TestService()
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
  let problems = Locked<[String]>([])
  let now = Locked(start)

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  var options: Options {
    var options = Options(
      service: issuer, issuer: issuer, products: ["personal"], publicKeys: [Signer.service.publicKey],
      folder: folder, appVersion: "2.4.0")
    options.machine = Fingerprint(machineID: machineID)
    options.transport = service.send
    options.now = { [now] in now.withLock { $0 } }
    options.onProblem = { [problems] code, _ in problems.withLock { $0.append(code) } }
    return options
  }

  var file: URL { folder.appendingPathComponent("license.json") }

  func readFile() throws -> Data { try Data(contentsOf: file) }

  func write(_ text: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// Moves the kept file away, and puts a link to itself in its place, which nobody can read, but which a rename would replace.
  func makeUnreadable() throws {
    try FileManager.default.moveItem(at: file, to: elsewhere)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.lastPathComponent)
  }

  /// Brings the file back that `makeUnreadable` moved away.
  func restoreFile() {
    #expect(rename(elsewhere.path, file.path) == 0)
  }

  var isUnreadable: Bool { (try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)) != nil }

  private var elsewhere: URL { folder.appendingPathComponent("elsewhere") }

  func open(_ change: (inout Options) -> Void = { _ in }) throws -> Latchkey {
    var options = options
    change(&options)
    return try Latchkey(options)
  }

  func openActivated() async throws -> Latchkey {
    let license = try open()
    service.answer(with: .activated)
    try await license.activate(licenseKey)
    return license
  }
}

extension Locked<Int> {
  /// Returns the next number.
  func increment() -> Int {
    withLock { number in
      number += 1
      return number
    }
  }
}

/// Returns the code with which a call fails; nil if it works.
func code(of call: () async throws -> Void) async throws -> String? {
  do {
    try await call()
    return nil
  } catch let error as LatchkeyError {
    return error.code
  }
}

/// Reads a file of the conformance vectors.
func readVectors(_ name: String) throws -> [JSON] {
  let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  let file = folder.appendingPathComponent("../../../conformance/vectors/\(name)").standardizedFileURL
  let vectors = try #require(JSON(parsing: Data(contentsOf: file))?.list)
  #expect(!vectors.isEmpty)
  return vectors
}
