// File that stores a command's output, up to a limit.
// Invariant: it belongs to this attempt alone, is never longer than the limit, and contains the start of the
// output. Without output there is no file, because most commands write nothing and a file costs more than all
// else. Its directories are created with it.
// Errors: the first failure is kept, and nothing is written after it. A file that was removed before the end
// counts as a failure, too.
import Glibc
import Posix

/// A bounded file, created with its first byte.
final class OutputFile {
  private let path: String
  private let bound: Int64
  private var file: FileDescriptor?
  private(set) var length: Int64 = 0
  /// Reason why the file is shorter than it could be; nil if it is not.
  private(set) var failure: SystemError?

  /// - Parameter path: path of the file; a file of an earlier attempt is removed.
  init(path: String, bound: Int64) {
    (self.path, self.bound) = (path, max(0, bound))
    do throws(SystemError) { try Directory.unlink(path) } catch {
      // A missing directory is reported with the first byte, if there is one.
      if !error.isMissing { failure = error }
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil, length < bound else { return }
    var rest = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: bound - length)))
    do throws(SystemError) {
      if file == nil { file = try create() }
      while !rest.isEmpty {
        let count = try write(rest)
        length += Int64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    } catch {
      failure = error
      file = nil
    }
  }

  /// Closes the file. Its name shows whether it was removed meanwhile; then nothing of it is left.
  func close() {
    defer { file = nil }
    guard failure == nil, isLost else { return }
    (failure, length) = (SystemError(call: "write", subject: path, code: ENOENT), 0)
  }

  private var isLost: Bool {
    // A simulated machine never loses a file.
    guard Kernel.isLinux else { return false }
    switch file {
    case .some(let open):
      do throws(SystemError) {
        return try FileFacts.inspect(path, followLinks: false)?.identity != open.facts().identity
      } catch { return false }
    case .none: return false
    }
  }

  /// Creates the file, and its directory if it is missing: the file may be the first of its day.
  private func create() throws(SystemError) -> FileDescriptor {
    let options: OpenOptions = [.writeOnly, .create, .exclusive, .noFollow]
    do throws(SystemError) { return try FileDescriptor.open(path, options, mode: 0o600) } catch {
      guard error.isMissing else { throw error }
      let day = Paths.directory(of: path)
      do throws(SystemError) { try Directory.create(path: day, recursive: false) } catch {
        guard error.isMissing else { throw error }
        // The directory of all days was removed. A home directory that is gone is not created again.
        try Directory.create(path: Paths.directory(of: day), recursive: false)
        try Directory.create(path: day, recursive: false)
      }
      return try FileDescriptor.open(path, options, mode: 0o600)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    switch file {
    case .some(let open):
      guard case .bytes(let count) = try open.write(bytes) else { return 0 }
      return count
    case .none: preconditionFailure("a file that is written to is open")
    }
  }
}
