import Foundation

/// An Ed25519 key of the service (RFC 8037), as its `/.well-known/jwks.json` lists it.
public struct PublicKey: Codable, Sendable, Equatable {
  public let kty: String
  public let crv: String
  /// 32 bytes in base64url.
  public let x: String
  public let kid: String

  public init(kty: String = "OKP", crv: String = "Ed25519", x: String, kid: String) {
    self.kty = kty
    self.crv = crv
    self.x = x
    self.kid = kid
  }

  /// Reads the text of `/.well-known/jwks.json`, or of its list `keys`.
  /// - Throws: ``InvalidOptions`` if the text is damaged, or lists other keys than those of Ed25519
  public static func read(from data: Data) throws(InvalidOptions) -> [PublicKey] {
    let json = JSON(parsing: data)
    let list = json?["keys"] ?? json
    let keys = read(list)
    guard list?.list?.count == keys.count else {
      throw InvalidOptions(problems: ["publicKeys must list Ed25519 keys"])
    }
    return keys
  }

  /// Returns the Ed25519 keys of a list, and ignores others.
  package static func read(_ list: JSON?) -> [PublicKey] {
    (list?.list ?? []).compactMap { each in
      guard let kty = each["kty"]?.text, let crv = each["crv"]?.text, let x = each["x"]?.text,
        let kid = each["kid"]?.text
      else { return nil }
      let key = PublicKey(kty: kty, crv: crv, x: x, kid: kid)
      return key.isValid ? key : nil
    }
  }

  var isValid: Bool { kty == "OKP" && crv == "Ed25519" && bytes.count == Ed25519.publicKeyBytes }

  var bytes: [UInt8] { Base64URL.decode(x) ?? [] }

  var json: JSON { ["kty": .text(kty), "crv": .text(crv), "x": .text(x), "kid": .text(kid)] }
}

/// What is wrong with an entitlement; the raw values are those of the conformance rules.
package enum Verdict: String, Error {
  case malformed, algorithm, signature, issuer, audience, machine, early, late, nonce
  case unknownKey = "unknown_key"
}

/// The statements of an entitlement that a client reads. Times are seconds since 1970.
package struct Claims: Sendable, Equatable {
  /// A clock may be this much behind that of the service.
  private static let earlyTolerance: Int64 = 300

  let issuer: String?
  let audience: String?
  let machine: String?
  let issuedAt: Int64
  let notBefore: Int64
  let end: Int64
  let activationID: String?
  let tier: String?
  let nonce: String?
  let features: [String]
  /// Nil: the license is perpetual.
  let licenseEnd: Int64?
  let isTrial: Bool

  /// Returns nil unless iat, nbf and exp are integers.
  init?(_ fields: JSON) {
    guard let issuedAt = fields["iat"]?.integer, let notBefore = fields["nbf"]?.integer,
      let end = fields["exp"]?.integer
    else { return nil }
    self.issuedAt = issuedAt
    self.notBefore = notBefore
    self.end = end
    issuer = fields["iss"]?.text
    audience = fields["aud"]?.text
    machine = fields["machine"]?.text
    activationID = fields["activation_id"]?.text
    tier = fields["tier"]?.text
    nonce = fields["nonce"]?.text
    features = (fields["features"]?.list ?? []).compactMap(\.text)
    licenseEnd = fields["license_expires_at"]?.integer
    isTrial = fields["trial"]?.bool ?? false
  }

  /// Checks the times of a genuine entitlement.
  func checkTime(now: Int64) throws(Verdict) {
    if now < (notBefore - Self.earlyTolerance) * 1000 { throw .early }
    if now >= end * 1000 { throw .late }
  }

  func isEarly(now: Int64) -> Bool { now < (notBefore - Self.earlyTolerance) * 1000 }
}

/// What an entitlement must fit. Of two keys with the same id, the first one counts.
package struct Trust: Sendable, Equatable {
  let keys: [PublicKey]
  let issuer: String
  let products: [String]
  let machineID: String

  package init(keys: [PublicKey], issuer: String, products: [String], machineID: String) {
    self.keys = keys
    self.issuer = issuer
    self.products = products
    self.machineID = machineID
  }

  /// Verifies everything but times and nonce, so that the verdict stays true.
  func verify(_ token: String) throws(Verdict) -> Claims {
    let parsed = try Token(token)
    guard parsed.algorithm == "EdDSA" else { throw .algorithm }
    guard let key = keys.first(where: { $0.kid == parsed.keyID }) else { throw .unknownKey }
    guard Ed25519.isValid(signature: parsed.signature, of: parsed.signed, by: key.bytes) else { throw .signature }
    let claims = parsed.claims
    guard claims.issuer == issuer else { throw .issuer }
    guard let audience = claims.audience, products.contains(audience) else { throw .audience }
    guard claims.machine == hashText(machineID) else { throw .machine }
    return claims
  }

  /// Verifies everything. The nonce is that of the open request, if there is one.
  package func verify(_ token: String, now: Int64, nonce: String?) throws(Verdict) {
    let claims = try verify(token)
    try claims.checkTime(now: now)
    if let nonce, nonce != claims.nonce { throw .nonce }
  }
}

/// The parts of an entitlement, a JWS in compact form.
private struct Token {
  let algorithm: String?
  let keyID: String
  let claims: Claims
  let signed: [UInt8]
  let signature: [UInt8]

  init(_ text: String) throws(Verdict) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.parse(parts[0]), let payload = Self.parse(parts[1]),
      let signature = Base64URL.decode(parts[2]),
      header["typ"]?.text == "entitlement+jwt", header["crit"] == nil, let keyID = header["kid"]?.text,
      let claims = Claims(payload)
    else { throw .malformed }
    algorithm = header["alg"]?.text
    self.keyID = keyID
    self.claims = claims
    signed = Array("\(parts[0]).\(parts[1])".utf8)
    self.signature = signature
  }

  private static func parse(_ part: Substring) -> JSON? {
    Base64URL.decode(part).flatMap { JSON(parsing: Data($0)) }
  }
}
