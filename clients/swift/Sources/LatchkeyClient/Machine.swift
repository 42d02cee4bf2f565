import Foundation

/// What identifies a machine: texts, and lists of texts; `machine_id` is always among them.
public struct Fingerprint: Sendable, Equatable {
  package let fields: [String: JSON]

  public var machineID: String { fields["machine_id"]?.text ?? "" }

  static let generatedPrefix = "generated-"

  /// Whether it is a random identity, because the system has none.
  var isGenerated: Bool { machineID.hasPrefix(Self.generatedPrefix) }

  /// - Parameter parts: what else your program knows, such as `board_serial`.
  public init(machineID: String, parts: [String: String] = [:]) {
    fields = parts.mapValues { .text($0) }.merging(["machine_id": .text(machineID)]) { _, id in id }
  }

  /// Returns nil without a machine id. Parts of another type are left out.
  package init?(_ json: JSON) {
    guard case .object(let all) = json, all["machine_id"]?.text.nonEmpty != nil else { return nil }
    fields = all.filter { $0.value.isTextOrTexts }
  }

  /// Reads the identity of this machine, without a shell. Nil if the system has none.
  public static func read() -> Fingerprint? {
    MachineReader.system.read()
  }
}

extension JSON {
  fileprivate var isTextOrTexts: Bool {
    text != nil || (list?.allSatisfy { $0.text != nil } ?? false)
  }
}

/// Reads a machine id in what a system prints, in any language.
package enum MachineSource: String {
  case windows = "reg.exe"
  case macOS = "ioreg"
  case linux = "machine-id"

  package func findID(in text: String) -> String? {
    let id = text.split(whereSeparator: \.isNewline).lazy.compactMap(findID(inLine:)).first
    guard let id, !id.allSatisfy({ $0 == "0" }) else { return nil }
    return id
  }

  private func findID(inLine line: Substring) -> String? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    switch self {
    case .windows where words.count == 3 && words[0] == "MachineGuid" && words[1] == "REG_SZ":
      return words[2].contains(only: "{}-_") ? words[2] : nil
    case .macOS:
      guard let start = line.range(of: #""IOPlatformUUID" = ""#)?.upperBound else { return nil }
      let id = String(line[start...].prefix { $0 != "\"" })
      return id.contains(only: "-_") ? id.nonEmpty : nil
    case .linux where words.count == 1 && words[0].utf8.count == 32 && words[0].allSatisfy(\.isHexDigit):
      return words[0].lowercased()
    default:
      return nil
    }
  }
}

extension String {
  /// Returns whether a text has ASCII letters, digits and these characters alone.
  fileprivate func contains(only others: String) -> Bool {
    allSatisfy { ($0.isASCII && ($0.isLetter || $0.isNumber)) || others.contains($0) }
  }

  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

/// Reads the identity of a machine with the means of its system.
struct MachineReader: Sendable {
  enum System { case macOS, linux, other }

  let system: System
  /// Returns what a program prints; nil if it fails.
  let run: @Sendable (_ program: String, _ arguments: [String]) -> String?
  /// Returns the content of a file; nil if it cannot be read.
  let readFile: @Sendable (_ path: String) -> String?

  func read() -> Fingerprint? {
    switch system {
    case .macOS:
      let output = run("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"])
      return output.flatMap(MachineSource.macOS.findID).map { Fingerprint(machineID: $0) }
    case .linux:
      let files = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
      let id = files.lazy.compactMap(readFile).compactMap(MachineSource.linux.findID).first
      let serial = readFile("/sys/class/dmi/id/board_serial")?.trimmingCharacters(in: .whitespacesAndNewlines)
      let parts = serial.flatMap { Self.isPlaceholder($0) ? nil : ["board_serial": $0] } ?? [:]
      return id.map { Fingerprint(machineID: $0, parts: parts) }
    case .other:
      return nil
    }
  }

  /// What vendors of boards write instead of a serial number.
  private static let placeholders: Set<String> = [
    "default string", "to be filled by o.e.m.", "to be filled by o.e.m", "not specified", "not applicable",
    "not available", "none", "n/a", "system serial number", "board serial number",
  ]

  private static func isPlaceholder(_ serial: String) -> Bool {
    let small = serial.lowercased()
    return placeholders.contains(small) || small.allSatisfy { $0 == "0" } || small.allSatisfy { $0 == "x" }
      || small.allSatisfy { "-. ".contains($0) }
  }
}

extension MachineReader {
  #if os(macOS)
    private static let own = System.macOS
  #elseif os(Linux)
    private static let own = System.linux
  #else
    private static let own = System.other
  #endif

  static let system = MachineReader(system: own, run: runProgram) { try? String(contentsOfFile: $0, encoding: .utf8) }

  private static let timeout = DispatchTimeInterval.seconds(5)

  @Sendable static func runProgram(_ program: String, _ arguments: [String]) -> String? {
    #if os(macOS) || os(Linux)
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return nil }
      DispatchQueue.global().asyncAfter(deadline: .now() + timeout) { [id = process.processIdentifier] in
        if process.isRunning { kill(id, SIGKILL) }
      }
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return process.terminationStatus == 0 ? String(data: data, encoding: .utf8) : nil
    #else
      return nil
    #endif
  }
}

/// Returns the addresses of this computer: other ones mean another network, or the return of one.
func describeNetwork() -> String {
  var first: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&first) == 0 else { return "" }
  defer { freeifaddrs(first) }
  let all = sequence(first: first) { $0?.pointee.ifa_next }.compactMap { $0?.pointee }
  return all.compactMap(describeAddress).sorted().joined(separator: " ")
}

private func describeAddress(_ interface: ifaddrs) -> String? {
  guard let address = interface.ifa_addr, interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0 else { return nil }
  let size: Int
  switch Int32(address.pointee.sa_family) {
  case AF_INET: size = MemoryLayout<sockaddr_in>.size
  case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
  default: return nil
  }
  var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
  guard getnameinfo(address, socklen_t(size), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
  else { return nil }
  return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
