import Foundation

/// A value that any thread may read and change.
final class Locked<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  func withLock<Result>(_ work: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try work(&value) }
  }
}

/// Runs calls one after the other.
actor CallQueue {
  private var last: Task<Void, Never>?

  /// Runs work after all work that was added before. Cancelling the task of the caller cancels the work, also before it begins.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Result<Value, any Error>
  ) async -> Result<Value, any Error> {
    // A check that was cancelled before must not begin after `close`.
    if Task.isCancelled { return .failure(CancellationError()) }
    let previous = last
    let current = Task {
      await previous?.value
      return Task.isCancelled ? .failure(CancellationError()) : await work()
    }
    last = Task { _ = await current.value }
    return await withTaskCancellationHandler {
      await current.value
    } onCancel: {
      current.cancel()
    }
  }

  /// Waits for all work that was added before.
  func wait() async {
    await last?.value
  }
}
