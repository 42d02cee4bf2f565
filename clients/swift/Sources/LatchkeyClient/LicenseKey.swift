/// A license key as a person typed or pasted it.
package enum LicenseKey: Equatable {
  /// A key of the service, in its usual form.
  case ok(String)
  case mistyped
  /// The key was perhaps issued elsewhere, and is sent as it is.
  case foreign(String)

  /// Crockford's base 32: digits and letters without I, L, O and U.
  private static let symbols = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".unicodeScalars)
  private static let lookAlikes: [Unicode.Scalar: Unicode.Scalar] = ["O": "0", "I": "1", "L": "1"]
  private static let symbolsOfKey = 25
  private static let checkedOfKey = 23
  private static let longestPrefix = 8
  private static let modulus = 1021

  /// A wrong checksum is mistyped only if a separator follows the prefix: a UUID, or 32 digits of another shop, are foreign.
  package init(typed text: String) {
    let trimmed = Self.trim(text)
    let parts = text.unicodeScalars.split { $0.isBlank || $0.properties.generalCategory == .dashPunctuation }
    let joined = Array(parts.joined())
    let prefix = joined.count - Self.symbolsOfKey
    guard (0...Self.longestPrefix).contains(prefix), joined.allSatisfy(\.isLetterOrDigit) else {
      self = .foreign(trimmed)
      return
    }
    let values = joined[prefix...].map(Self.value).compactMap { $0 }
    guard values.count == Self.symbolsOfKey else {
      self = .foreign(trimmed)
      return
    }
    let isRight = Self.hasRightChecksum(values)
    let isSeparated = prefix > 0 && parts.first?.count == prefix
    self = isRight ? .ok(Self.format(joined[..<prefix], values)) : isSeparated ? .mistyped : .foreign(trimmed)
  }

  /// The text that is sent to the service; nil if a request is not worth it.
  var sent: String? {
    switch self {
    case .ok(let key): key
    case .foreign(let text): text.isEmpty ? nil : text
    case .mistyped: nil
    }
  }

  private static func trim(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.isBlank }), let last = scalars.lastIndex(where: { !$0.isBlank })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func value(_ scalar: Unicode.Scalar) -> Int? {
    let capital = scalar.properties.uppercaseMapping.unicodeScalars.first ?? scalar
    return symbols.firstIndex(of: lookAlikes[capital] ?? capital)
  }

  private static func hasRightChecksum(_ values: [Int]) -> Bool {
    let remainder = values[..<checkedOfKey].reduce(0) { ($0 * symbols.count + $1) % modulus }
    return values[checkedOfKey] * symbols.count + values[checkedOfKey + 1] == remainder
  }

  private static func format(_ prefix: ArraySlice<Unicode.Scalar>, _ values: [Int]) -> String {
    let groups = stride(from: 0, to: symbolsOfKey, by: 5).map { start in
      String(String.UnicodeScalarView(values[start..<start + 5].map { symbols[$0] }))
    }
    let start = prefix.isEmpty ? [] : [String(String.UnicodeScalarView(prefix)).uppercased()]
    return (start + groups).joined(separator: "-")
  }
}

extension Unicode.Scalar {
  fileprivate var isBlank: Bool { properties.isWhitespace }

  fileprivate var isLetterOrDigit: Bool {
    isASCII && (properties.isAlphabetic || properties.numericType != nil)
  }
}
