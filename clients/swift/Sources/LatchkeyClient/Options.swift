import Foundation

/// What a program passes when it opens a client.
public struct Options: Sendable {
  /// The address of the service, such as `https://license.example.com`.
  public var service: String
  /// The `LATCHKEY_PUBLIC_URL` of the service, which its entitlements name; usually the same address.
  public var issuer: String
  /// The ids of your products in its catalogue.
  public var products: [String]
  /// Those of its `/.well-known/jwks.json`.
  public var publicKeys: [PublicKey]
  /// A folder of your program and this user, for `license.json`.
  public var folder: URL
  public var appVersion: String

  /// Shown to support, and never compared.
  public var osVersion: String?
  /// The identity of the machine, if your program knows it.
  public var machine: Fingerprint?
  /// Reads the identity otherwise. Returns nil if that fails.
  public var readMachine: @Sendable () -> Fingerprint? = Fingerprint.read
  /// Sends the requests; by default with `URLSession`.
  public var transport: Transport = Exchange.send
  /// The timeout of a request as a whole.
  public var timeout: Duration = .seconds(10)
  /// The clock of the device.
  public var now: @Sendable () -> Date = { Date() }
  /// Receives a code and a message of each failure that the client continues after.
  public var onProblem: @Sendable (_ code: String, _ message: String) -> Void = { _, _ in }

  public init(
    service: String, issuer: String, products: [String], publicKeys: [PublicKey], folder: URL, appVersion: String
  ) {
    self.service = service
    self.issuer = issuer
    self.products = products
    self.publicKeys = publicKeys
    self.folder = folder
    self.appVersion = appVersion
  }

  /// Returns the parts of the address of the service.
  func check() throws(InvalidOptions) -> URLComponents {
    let address = URLComponents(string: service)
    let isAddress = ["http", "https"].contains(address?.scheme) && address?.host.nonEmpty != nil
    let checks: [(Bool, String)] = [
      (isAddress, "service must be an http or https URL"),
      (!products.isEmpty, "products must list ids"),
      (publicKeys.allSatisfy(\.isValid), "publicKeys must list Ed25519 keys"),
      (machine?.machineID != "", "machine must have a machine id"),
      (folder.isFileURL, "folder must be a file URL"),
      (timeout > .zero, "timeout must be positive"),
    ]
    let problems = checks.filter { !$0.0 }.map(\.1)
    guard problems.isEmpty, let address else { throw InvalidOptions(problems: problems) }
    return address
  }
}

/// Options with which no client can be opened.
public struct InvalidOptions: Error, Sendable, CustomStringConvertible {
  /// A sentence for each.
  public let problems: [String]

  public var description: String { problems.joined(separator: "; ") }
}
