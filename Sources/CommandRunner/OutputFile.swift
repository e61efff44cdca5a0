// File that stores a command's output, up to a limit.
// Invariant: the file belongs to one attempt, is not longer than the limit, and contains the start of the output. A
// command without output gets no file. Missing directories, except the home, are created with the file.
// Errors: the first failure is kept, and nothing is written after it.
import Glibc
import Posix

/// A file with a maximum size. It is created when its first byte is written.
final class OutputFile {
  private let path: String
  private let bound: Int64
  private var file: FileDescriptor?
  private(set) var length: Int64 = 0
  /// Error because of which the file is shorter than its limit allows; nil if there was none.
  private(set) var failure: SystemError?

  /// - Parameter path: path of the file. A file that an earlier attempt has left there is removed.
  init(path: String, bound: Int64) {
    (self.path, self.bound) = (path, max(0, bound))
    do throws(SystemError) { try Directory.unlink(path) } catch {
      // A missing directory is not an error: it is created when the first byte is written.
      if !error.isMissing { failure = error }
    }
  }

  /// Writes bytes up to the limit, and creates the file first if it is missing.
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

  /// Closes the file. If the path does not lead to the file any more, the file was removed: that is recorded as a
  /// failure, and the length becomes 0.
  func close() {
    defer { file = nil }
    guard failure == nil, isLost else { return }
    (failure, length) = (SystemError(call: "write", subject: path, code: ENOENT), 0)
  }

  /// True if the path does not lead to the open file any more.
  private var isLost: Bool {
    // A simulated machine does not lose output files.
    guard Kernel.isLinux else { return false }
    switch file {
    case .some(let open):
      do throws(SystemError) {
        return try FileMetadata.inspect(path, followLinks: false)?.identity != open.metadata().identity
      } catch { return false }
    case .none: return false
    }
  }

  /// Creates the file, and its directory if it is missing: the file may be the first one of its business day.
  private func create() throws(SystemError) -> FileDescriptor {
    let options: OpenOptions = [.writeOnly, .create, .exclusive, .noFollow]
    do throws(SystemError) { return try FileDescriptor.open(path, options, mode: 0o600) } catch {
      guard error.isMissing else { throw error }
      let day = Paths.directory(of: path)
      do throws(SystemError) { try Directory.create(path: day, recursive: false) } catch {
        guard error.isMissing else { throw error }
        // The parent directory of all business days was removed. A missing home directory is not created again.
        try Directory.create(path: Paths.directory(of: day), recursive: false)
        try Directory.create(path: day, recursive: false)
      }
      return try FileDescriptor.open(path, options, mode: 0o600)
    }
  }

  /// Writes some of the bytes. Returns how many.
  private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    switch file {
    case .some(let open):
      guard case .bytes(let count) = try open.write(bytes) else { return 0 }
      return count
    case .none: preconditionFailure("a file that is written to is open")
    }
  }
}
