import Foundation

/// Reads JSON (RFC 8259). If a name appears twice in an object, the last one counts; the decoders of Foundation take the first.
struct JSONParser {
  private struct Malformed: Error {}

  private static let maxDepth = 200

  private let bytes: [UInt8]
  private var position = 0

  /// Returns nil for what is not JSON in UTF-8.
  static func parse(_ data: Data) -> JSON? {
    guard String(data: data, encoding: .utf8) != nil else { return nil }
    var parser = JSONParser(bytes: [UInt8](data))
    guard let value = try? parser.readValue(depth: 0), parser.next() == nil else { return nil }
    return value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the next character that is no blank, and stays before it.
  private mutating func next() -> Character? {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    return position < bytes.count ? Character(Unicode.Scalar(bytes[position])) : nil
  }

  /// Reads a character, if it is the next one.
  private mutating func take(_ character: Character) -> Bool {
    guard next() == character else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Character) throws(Malformed) {
    guard take(character) else { throw Malformed() }
  }

  private mutating func readValue(depth: Int) throws(Malformed) -> JSON {
    guard depth < Self.maxDepth else { throw Malformed() }
    switch next() {
    case "{": return .object(try readObject(depth: depth))
    case "[": return .list(try readList(depth: depth))
    case "\"": return .text(try readText())
    case "t": return try readWord("true", .bool(true))
    case "f": return try readWord("false", .bool(false))
    case "n": return try readWord("null", .null)
    default: return try readNumber()
    }
  }

  private mutating func readObject(depth: Int) throws(Malformed) -> [String: JSON] {
    var fields: [String: JSON] = [:]
    position += 1
    if take("}") { return fields }
    repeat {
      guard next() == "\"" else { throw Malformed() }
      let name = try readText()
      try expect(":")
      fields[name] = try readValue(depth: depth + 1)
    } while take(",")
    try expect("}")
    return fields
  }

  private mutating func readList(depth: Int) throws(Malformed) -> [JSON] {
    var list: [JSON] = []
    position += 1
    if take("]") { return list }
    repeat {
      list.append(try readValue(depth: depth + 1))
    } while take(",")
    try expect("]")
    return list
  }

  private mutating func readWord(_ word: String, _ value: JSON) throws(Malformed) -> JSON {
    guard bytes[position...].starts(with: word.utf8) else { throw Malformed() }
    position += word.utf8.count
    return value
  }

  private mutating func readNumber() throws(Malformed) -> JSON {
    let characters = bytes[position...].prefix { "+-.0123456789Ee".utf8.contains($0) }
    position += characters.count
    let text = String(decoding: characters, as: UTF8.self)
    guard text.wholeMatch(of: /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?/) != nil else { throw Malformed() }
    if let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else { throw Malformed() }
    return .number(number)
  }

  private mutating func readText() throws(Malformed) -> String {
    var text: [UInt8] = []
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case 0x22: return String(decoding: text, as: UTF8.self)
      case 0x5C: text.append(contentsOf: try readEscape().utf8)
      case ..<0x20: throw Malformed()
      default: text.append(byte)
      }
    }
    throw Malformed()
  }

  private static let escapes: [UInt8: String] = [
    0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r", 0x74: "\t",
  ]

  /// Reads what follows a backslash.
  private mutating func readEscape() throws(Malformed) -> String {
    guard position < bytes.count else { throw Malformed() }
    position += 1
    if let escape = Self.escapes[bytes[position - 1]] { return escape }
    guard bytes[position - 1] == UInt8(ascii: "u") else { throw Malformed() }
    var units = [try readUnit()]
    // The other half of a pair; a half that is alone becomes the sign for what cannot be read.
    if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: #"\u"#.utf8) {
      position += 2
      units.append(try readUnit())
    }
    return String(decoding: units, as: UTF16.self)
  }

  private mutating func readUnit() throws(Malformed) -> UInt16 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw Malformed() }
    position += 4
    return unit
  }
}
