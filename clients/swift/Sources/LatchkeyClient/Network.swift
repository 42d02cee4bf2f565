import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends a request, and returns the body and the response. It follows no redirect, and ends when its task is cancelled.
public typealias Transport = @Sendable (URLRequest) async throws -> (Data, HTTPURLResponse)

/// JSON of the service, with its time, if it sent one.
struct Answer: Sendable {
  let body: JSON
  let date: Int64?
}

/// Sends the questions of a client.
struct Network: Sendable {
  private static let maxBytes = 1_000_000

  let service: String
  let timeout: Duration
  let transport: Transport

  /// Sends one request: POST with content, else GET.
  func ask(_ path: String, _ content: [String: JSON]? = nil) async throws -> Answer {
    guard let url = URL(string: service + path) else { throw LatchkeyError.noAnswer(.connection, "no URL") }
    var request = URLRequest(url: url)
    request.httpMethod = content == nil ? "GET" : "POST"
    request.httpBody = content.map { JSON.object($0).encoded() }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let (body, response) = try await send(request)
    return try Self.classify(body, response)
  }

  private func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
    do {
      return try await withTimeout(timeout) { [transport] in try await transport(request) }
    } catch {
      try Task.checkCancellation()
      throw LatchkeyError.noAnswer(Self.findCause(error), Self.describe(error))
    }
  }

  /// Decides what arrived: only JSON of the service's own forms is an answer.
  private static func classify(_ data: Data, _ response: HTTPURLResponse) throws -> Answer {
    let status = response.statusCode
    if status == 429 || status >= 500 {
      var busy = NoAnswer(cause: .busy, detail: "status \(status)")
      busy.retryAfter = readRetryAfter(response.value(forHTTPHeaderField: "Retry-After"))
      throw LatchkeyError.noAnswer(busy)
    }
    if status == 407 { throw LatchkeyError.noAnswer(.proxy, "status 407") }
    let body = data.count > maxBytes ? nil : JSON(parsing: data)
    let date = Times.parseHTTP(response.value(forHTTPHeaderField: "Date"))
    if status == 200, let body { return Answer(body: body, date: date) }
    guard status >= 400, let body, let code = body["code"]?.text, isProblem(response, body) else {
      throw LatchkeyError.noAnswer(.portal, "status \(status), not an answer of the service")
    }
    throw LatchkeyError.refused(readRefusal(code, body, status: status, date: date))
  }

  private static func isProblem(_ response: HTTPURLResponse, _ body: JSON) -> Bool {
    let type = response.value(forHTTPHeaderField: "Content-Type")?.lowercased() ?? ""
    return type.hasPrefix("application/problem+json") || body["status"]?.integer == Int64(response.statusCode)
  }

  private static func readRefusal(_ code: String, _ body: JSON, status: Int, date: Int64?) -> Refusal {
    var refusal = Refusal(code: code)
    refusal.max = body["max"]?.integer.map { Int(clamping: $0) }
    refusal.current = body["current"]?.integer.map { Int(clamping: $0) }
    refusal.availableAt = Times.parse(body["available_at"]?.text)
    refusal.status = status
    refusal.date = date
    return refusal
  }

  /// Reads seconds; the service sends no date, and is believed for a day only.
  private static func readRetryAfter(_ text: String?) -> Duration? {
    guard let text, text.utf8.count < 10, let seconds = UInt(text) else { return nil }
    return .seconds(min(seconds, 86_400))
  }

  private static func findCause(_ error: any Error) -> NoAnswer.Cause {
    #if canImport(FoundationNetworking)
      // There, the text of libcurl alone names TLS and the proxy.
      let text = error.localizedDescription
      if text.contains("SSL") || text.contains("TLS") { return .tls }
      if text.lowercased().contains("proxy") { return .proxy }
    #endif
    return findCause((error as? URLError)?.code)
  }

  private static func findCause(_ code: URLError.Code?) -> NoAnswer.Cause {
    switch code {
    case .timedOut: .timeout
    case .cannotFindHost, .dnsLookupFailed: .dns
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .clientCertificateRejected,
      .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
      .tls
    default: .connection
    }
  }

  /// Leaves out the address of the request, which may contain the key.
  private static func describe(_ error: any Error) -> String {
    (error as? URLError).map { "\($0.localizedDescription) (\($0.code.rawValue))" } ?? "\(type(of: error))"
  }
}

/// Returns what comes first: the result of work, or an error.
private func withTimeout<Value: Sendable>(
  _ timeout: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask(operation: work)
    group.addTask {
      try await Task.sleep(for: timeout)
      throw URLError(.timedOut)
    }
    defer { group.cancelAll() }
    guard let first = try await group.next() else { throw URLError(.unknown) }
    return first
  }
}

/// One request with URLSession, over a connection of its own: nothing is repeated, as after a connection that was kept too long.
final class Exchange: NSObject, URLSessionDataDelegate, Sendable {
  /// More than the largest answer that counts.
  private static let maxBytes = 1_100_000

  /// The result, and who waits for it. Either may be there first.
  private struct Progress {
    var data = Data()
    var result: Result<(Data, HTTPURLResponse), any Error>?
    var continuation: CheckedContinuation<(Data, HTTPURLResponse), any Error>?
  }

  private let progress = Locked(Progress())

  @Sendable static func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
    let exchange = Exchange()
    let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: request)
    return try await withTaskCancellationHandler {
      task.resume()
      return try await exchange.response()
    } onCancel: {
      task.cancel()
      exchange.finish(.failure(CancellationError()))
    }
  }

  /// Waits for the result.
  func response() async throws -> (Data, HTTPURLResponse) {
    try await withCheckedThrowingContinuation { continuation in
      let result = progress.withLock { progress in
        if progress.result == nil { progress.continuation = continuation }
        return progress.result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Ends the exchange. Only the first result counts.
  func finish(_ result: Result<(Data, HTTPURLResponse), any Error>) {
    let continuation = progress.withLock { progress in
      if progress.result == nil { progress.result = result }
      defer { progress.continuation = nil }
      return progress.continuation
    }
    continuation?.resume(with: result)
  }

  private static var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return configuration
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let received = progress.withLock { progress in
      progress.data.append(data)
      return progress.data
    }
    guard received.count > Self.maxBytes, let response = dataTask.response as? HTTPURLResponse else { return }
    finish(.success((received, response)))
    dataTask.cancel()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    finish(.success((Data(), response)))
    completionHandler(nil)
    task.cancel()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let data = progress.withLock(\.data)
    if let error {
      finish(.failure(error))
    } else if let response = task.response as? HTTPURLResponse {
      finish(.success((data, response)))
    } else {
      finish(.failure(URLError(.badServerResponse)))
    }
  }
}
