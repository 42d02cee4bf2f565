import Foundation
import Testing

@testable import LatchkeyClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct FaultsTests {
  private static let faults = 10_000
  private static let foreign = Signer(seed: "a service that pretends to be the real one")

  private static let failures: [(NoAnswer.Cause, URLError.Code)] = [
    (.connection, .cannotConnectToHost), (.connection, .networkConnectionLost), (.connection, .badServerResponse),
    (.dns, .cannotFindHost), (.timeout, .timedOut), (.tls, .serverCertificateUntrusted),
    (.tls, .secureConnectionFailed),
  ]

  private static let answers: [(NoAnswer.Cause, Response)] = [
    (.proxy, .page(407)), (.portal, .page(200)), (.portal, .page(403)), (.portal, .page(404)), (.portal, .page(302)),
    (.portal, .text(204, "")), (.portal, .text(200, "")), (.portal, .text(200, "{\"valid\":true,\"entitlem")),
    (.portal, .text(200, "[{}]")), (.portal, .text(200, "null")), (.portal, .text(200, "\0")),
    (.portal, .text(200, String(repeating: "[", count: 50_000))),
    (.portal, .text(200, "{\"valid\":false,\"reason\":1}")),
    (.portal, .text(200, String(repeating: "x", count: 1_000_001))), (.portal, .json(["valid": true])),
    (.portal, .validated("a.b.c")), (.portal, .validated(foreign.sign())),
    (.portal, .validated(foreign.sign(kid: Signer.service.publicKey.kid))),
    (.portal, .validated(Signer.service.sign(["aud": "other"]))),
    (.portal, .validated(Signer.service.sign(["exp": 1]))),
    (.portal, .text(403, "{\"error\":\"blocked by policy\"}")),
    (.portal, .text(403, "{\"code\":\"license_revoked\",\"status\":200}")), (.busy, .problem(429, "rate_limited")),
    (.busy, .problem(500, "internal_error")), (.busy, .page(502)), (.busy, .problem(503, "license_revoked")),
  ]

  private static func fault(_ number: Int, of service: TestService) -> NoAnswer.Cause {
    let index = number % (failures.count + answers.count)
    if index < failures.count {
      service.fail(with: failures[index].1)
      return failures[index].0
    }
    let (cause, response) = answers[index - failures.count]
    service.answer(with: response)
    return cause
  }

  private func noAnswer(of call: @Sendable () async throws -> Void) async throws -> NoAnswer.Cause? {
    do {
      try await call()
      return nil
    } catch LatchkeyError.noAnswer(let failure) {
      return failure.cause
    }
  }

  @Test func faultsOfTheNetworkChangeNothing() async throws {
    let world = World()
    let license = try await world.openActivated()
    let (before, file) = (license.state, try world.readFile())
    let calls: [@Sendable () async throws -> Void] = [
      { try await license.check(.scheduled) }, { try await license.activate(licenseKey) },
      { _ = try await license.machines() }, { try await license.moveHere(from: "any") },
    ]
    for number in 0..<Self.faults {
      let cause = Self.fault(number, of: world.service)
      let seen = try await noAnswer(of: calls[number % calls.count])
      #expect(seen == cause, "fault \(number)")
    }
    #expect(!license.state.differs(from: before) && license.state.source == .kept)
    #expect(try world.readFile() == file && world.problems.withLock { $0 }.isEmpty)
    world.service.answer(with: .validated())
    try await license.check()
  }

  @Test(.timeLimit(.minutes(1))) func exchangeThatEndsBeforeItIsAwaitedHasItsFirstResult() async throws {
    let exchange = Exchange()
    exchange.finish(.failure(URLError(.networkConnectionLost)))
    exchange.finish(.failure(URLError(.timedOut)))
    do {
      _ = try await exchange.response()
      Issue.record("a response")
    } catch let error as URLError {
      #expect(error.code == .networkConnectionLost)
    }
  }

  @Test(.timeLimit(.minutes(1))) func requestThatIsCancelledBeforeItBeginsEnds() async throws {
    let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:9/")))
    await #expect(throws: (any Error).self) {
      try await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await Exchange.send(request)
      }.value
    }
  }

  @Test func detailsNameNoKey() async throws {
    let world = World()
    let license = try await world.openActivated()
    let address = "\(issuer)/\(licenseKey)"
    world.service.answer { _ in throw URLError(.timedOut, userInfo: [NSURLErrorFailingURLStringErrorKey: address]) }
    #expect(try await code { _ = try await license.machines() } == "no_answer")
    #expect(!license.explain().contains(licenseKey) && license.explain().contains("timeout"))
  }
}
