import Foundation

/// The file `license.json` in the folder of a program.
struct KeptFile: Sendable {
  private static let name = "license.json"

  /// More than writing takes, and than clocks of a network differ: a program that writes such a file was killed.
  private static let temporaryLifetime: TimeInterval = 3600

  let folder: URL

  private var path: URL { folder.appendingPathComponent(Self.name) }

  /// Returns nil if there is no file.
  func read() throws -> Data? {
    let descriptor = open(path.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let error = POSIXError.last
      if error.code == .ENOENT { return nil }
      throw error
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return try file.readToEnd() ?? Data()
  }

  /// Reads up to five times within 200 ms: a backup may hold the file for a moment.
  func readWithRetries(pause: (TimeInterval) -> Void = Thread.sleep(forTimeInterval:)) throws -> Data? {
    for seconds in [0.02, 0.04, 0.06, 0.08] {
      do {
        return try read()
      } catch {
        pause(seconds)
      }
    }
    return try read()
  }

  func setAside() throws {
    try Self.rename(path, path.appendingPathExtension("damaged"))
  }

  /// Writes a file beside, flushes it, and renames it: a killed process leaves the old one or the new one.
  func write(_ data: Data) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let temporary = path.appendingPathExtension("\(UUID().uuidString).tmp")
    do {
      try Self.flush(data, to: temporary)
      try Self.rename(temporary, path)
    } catch {
      try? FileManager.default.removeItem(at: temporary)
      throw error
    }
  }

  /// Removes the temporary files that killed programs left.
  func removeOldTemporaries() {
    let files = FileManager.default
    let entries = (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in entries where name.hasPrefix("\(Self.name).") && name.hasSuffix(".tmp") {
      let temporary = folder.appendingPathComponent(name)
      let attributes = try? files.attributesOfItem(atPath: temporary.path)
      guard let written = attributes?[.modificationDate] as? Date else { continue }
      // Another program may have removed it at the same time.
      if written.timeIntervalSinceNow < -Self.temporaryLifetime { try? files.removeItem(at: temporary) }
    }
  }

  private static func flush(_ data: Data, to path: URL) throws {
    // Only its owner can read it.
    let descriptor = open(path.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError.last }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try file.write(contentsOf: data)
    try file.synchronize()
    try file.close()
  }

  private static func rename(_ from: URL, _ to: URL) throws {
    guard Foundation.rename(from.path, to.path) == 0 else { throw POSIXError.last }
  }
}

extension POSIXError {
  /// The error of the last call of the system in this thread.
  fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
