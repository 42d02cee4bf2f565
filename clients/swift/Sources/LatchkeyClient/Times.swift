import Foundation

/// Times as milliseconds since 1970, and as texts.
enum Times {
  /// The years 1 to 9999, which RFC 3339 can write.
  private static let writable: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// Returns the milliseconds of a date, within the years that can be written.
  static func milliseconds(of date: Date) -> Int64 {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    guard milliseconds > Double(writable.lowerBound) else { return writable.lowerBound }
    guard milliseconds < Double(writable.upperBound) else { return writable.upperBound }
    return Int64(milliseconds)
  }

  static func date(of milliseconds: Int64) -> Date {
    let limited = min(max(milliseconds, writable.lowerBound), writable.upperBound)
    return Date(timeIntervalSince1970: Double(limited) / 1000)
  }

  /// Returns RFC 3339 in UTC.
  static func format(_ milliseconds: Int64) -> String {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    // The style cuts off; a date, which has a binary fraction, may be less than its millisecond.
    return date(of: milliseconds).addingTimeInterval(0.0002).formatted(style)
  }

  /// Reads RFC 3339, with and without a fraction.
  static func parse(_ text: String?) -> Date? {
    guard let text else { return nil }
    let exact = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    return exact ?? (try? Date.ISO8601FormatStyle().parse(text))
  }

  /// Reads the header `Date` of HTTP.
  static func parseHTTP(_ text: String?) -> Int64? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    return text.flatMap(formatter.date(from:)).map(milliseconds(of:))
  }
}
