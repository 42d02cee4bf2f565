import Foundation

/// JSON whose fields were not examined yet.
package enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  /// Integers beyond are not exact in every language.
  private static let safeIntegers: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991

  /// Returns nil for what is not JSON in UTF-8.
  package init?(parsing data: Data) {
    guard let parsed = JSONParser.parse(data) else { return nil }
    self = parsed
  }

  package subscript(name: String) -> JSON? {
    if case .object(let fields) = self { fields[name] } else { nil }
  }

  package var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  package var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  package var list: [JSON]? {
    if case .list(let list) = self { list } else { nil }
  }

  package var integer: Int64? {
    if case .integer(let integer) = self, Self.safeIntegers.contains(integer) { integer } else { nil }
  }

  /// Null for nil.
  package static func optional(_ text: String?) -> JSON {
    text.map { .text($0) } ?? .null
  }

  /// The same values result in the same bytes.
  package func encoded() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only a number that is not finite cannot be encoded, and none is ever parsed.
    return (try? encoder.encode(self)) ?? Data()
  }
}

extension JSON: Encodable {
  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let fields): try value.encode(fields)
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
  package init(stringLiteral text: String) { self = .text(text) }
  package init(booleanLiteral bool: Bool) { self = .bool(bool) }
  package init(integerLiteral integer: Int64) { self = .integer(integer) }
  package init(arrayLiteral list: JSON...) { self = .list(list) }
  package init(dictionaryLiteral fields: (String, JSON)...) {
    self = .object(Dictionary(fields) { _, last in last })
  }
}

enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  /// Returns nil unless the text is what encoding the bytes results in, so that no two texts have the same bytes.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let usual = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: usual + padding), !data.isEmpty, encode(data) == text else { return nil }
    return [UInt8](data)
  }
}
