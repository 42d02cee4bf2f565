import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import CLatchkeyCrypto
#endif

/// Returns the base64url SHA-256 of a text.
func hashText(_ text: String) -> String {
  #if canImport(CryptoKit)
    return Base64URL.encode(SHA256.hash(data: Data(text.utf8)))
  #else
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(bytes, bytes.count, &digest)
    return Base64URL.encode(digest)
  #endif
}

/// Signatures of RFC 8032.
enum Ed25519 {
  static let publicKeyBytes = 32
  private static let signatureBytes = 64

  /// Numbers of 32 bytes, the lowest first.
  private static let prime = readNumber("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed")
  private static let order = readNumber("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed")

  /// The y-coordinates of all points whose order divides eight: a signature of such a key would fit every message.
  private static let smallOrders = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000001",
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec",
    "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
    "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
  ].map(readNumber)

  /// Verifies a signature. What libraries do with S beyond the order, and with keys of small order, differs.
  static func isValid(signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard publicKey.count == publicKeyBytes, signature.count == signatureBytes, isSafe(publicKey) else { return false }
    guard isBelow(order, Array(signature[32...])) else { return false }
    return verify(signature, message, publicKey)
  }

  /// Returns whether a public key is encoded canonically, and of no small order.
  private static func isSafe(_ publicKey: [UInt8]) -> Bool {
    var y = publicKey
    y[31] &= 0x7f
    return isBelow(prime, y) && !smallOrders.contains(y)
  }

  private static func isBelow(_ limit: [UInt8], _ number: [UInt8]) -> Bool {
    number.reversed().lexicographicallyPrecedes(limit.reversed())
  }

  private static func readNumber(_ hexadecimal: String) -> [UInt8] {
    stride(from: 62, through: 0, by: -2).compactMap { UInt8(hexadecimal.dropFirst($0).prefix(2), radix: 16) }
  }

  #if canImport(CryptoKit)
    private static func verify(_ signature: [UInt8], _ message: [UInt8], _ publicKey: [UInt8]) -> Bool {
      let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
      return key?.isValidSignature(signature, for: message) ?? false
    }
  #else
    private static func verify(_ signature: [UInt8], _ message: [UInt8], _ publicKey: [UInt8]) -> Bool {
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
      let context = EVP_MD_CTX_new()
      defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
      }
      guard key != nil, EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
      return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
  #endif
}
