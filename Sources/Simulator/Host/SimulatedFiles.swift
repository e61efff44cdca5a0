// Files and directories of the simulated host, in memory. Sockets have their names in ``SimulatedHost``.
// Invariant: a path is absolute and normalized, and its directory exists. A file exists while a name or a
// descriptor refers to it. There is one user, with all permissions.
// Errors: the error number of Linux, or ENOSYS for the renaming of a directory.
import Glibc
import Posix

/// A file or directory, under any number of names.
final class SimulatedFile {
  let inode: UInt64
  let isDirectory: Bool
  let mode: mode_t
  var bytes: [UInt8] = []
  let locks = FileLocks()

  init(inode: UInt64, isDirectory: Bool, mode: mode_t) {
    (self.inode, self.isDirectory, self.mode) = (inode, isDirectory, mode)
  }
}

/// A file as a process has opened it; all copies of the descriptor share it.
final class OpenedFile {
  let file: SimulatedFile
  let flags: CInt
  private var position = 0

  init(_ file: SimulatedFile, flags: CInt) { (self.file, self.flags) = (file, flags) }
  var isReadable: Bool { flags & O_ACCMODE != O_WRONLY && !file.isDirectory }
  var isWritable: Bool { flags & O_ACCMODE != O_RDONLY }

  /// Takes or releases the lock; false if the lock of another open file is in conflict. `flock(2)`
  func lock(_ operation: CInt) -> Bool { file.locks.take(operation, for: self) }

  /// Reads from the position, or from an offset. Returns the number of bytes.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) -> Int {
    let start = offset.map { Int($0) } ?? position
    guard start < file.bytes.count else { return 0 }
    let part = file.bytes[start..<min(file.bytes.count, start + buffer.count)]
    part.withUnsafeBytes { buffer.copyMemory(from: $0) }
    if offset == nil { position += part.count }
    return part.count
  }

  /// Writes at the position, at an offset, or at the end if the file is open for appending.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil) {
    // As on Linux, where a file opened for appending ignores the offset.
    let start = flags & O_APPEND != 0 ? file.bytes.count : offset.map { Int($0) } ?? position
    if file.bytes.count < start { truncate(to: start) }
    let end = start + bytes.count
    file.bytes.replaceSubrange(start..<min(end, file.bytes.count), with: bytes)
    if offset == nil { position = end }
  }

  /// Cuts the file at a size, or extends it with zeros.
  func truncate(to size: Int) {
    if file.bytes.count > size { file.bytes.removeSubrange(size...) }
    file.bytes.append(contentsOf: repeatElement(0, count: size - file.bytes.count))
  }
}

/// The files and directories of a host, by path.
struct SimulatedFiles {
  private var names: [String: SimulatedFile] = [:]
  private var lastInode: UInt64 = 2

  init() { names["/"] = SimulatedFile(inode: 2, isDirectory: true, mode: 0o755) }
  subscript(path: String) -> SimulatedFile? { names[path] }

  /// Error number for creating or looking up a name; nil if its directory exists.
  func objection(to path: String) -> CInt? {
    guard let above = names[Paths.directory(of: path)] else { return ENOENT }
    return above.isDirectory ? nil : ENOTDIR
  }

  /// Creates an empty file or directory, and replaces what had the name.
  mutating func make(_ path: String, isDirectory: Bool, mode: mode_t) -> SimulatedFile {
    lastInode += 1
    let made = SimulatedFile(inode: lastInode, isDirectory: isDirectory, mode: mode & 0o7777)
    names[path] = made
    return made
  }

  /// Replaces the content of a file, and creates the file if necessary.
  mutating func write(_ bytes: [UInt8], to path: String) {
    let file = names[path] ?? make(path, isDirectory: false, mode: 0o600)
    file.bytes = bytes
  }

  /// Creates a directory with those above it, unless they exist.
  mutating func makeDirectories(_ path: String) {
    guard names[path] == nil else { return }
    makeDirectories(Paths.directory(of: path))
    _ = make(path, isDirectory: true, mode: 0o700)
  }

  /// Opens a file. `open(2)`
  mutating func open(_ path: String, flags: CInt, mode: mode_t) -> Result<OpenedFile, SystemError> {
    func refusal(_ code: CInt) -> Result<OpenedFile, SystemError> {
      .failure(SystemError(call: "open", subject: path, code: code))
    }
    if let file = names[path] {
      if flags & O_CREAT != 0, flags & O_EXCL != 0 { return refusal(EEXIST) }
      if file.isDirectory, flags & O_ACCMODE != O_RDONLY || flags & O_CREAT != 0 { return refusal(EISDIR) }
      if !file.isDirectory, flags & O_DIRECTORY != 0 { return refusal(ENOTDIR) }
      if flags & O_TRUNC != 0 { file.bytes.removeAll() }
      return .success(OpenedFile(file, flags: flags))
    }
    if let code = objection(to: path) { return refusal(code) }
    guard flags & O_CREAT != 0 else { return refusal(ENOENT) }
    return .success(OpenedFile(make(path, isDirectory: false, mode: mode), flags: flags))
  }

  /// Removes a name. Returns the error number if that is impossible, or nil. `unlink(2)`
  mutating func unlink(_ path: String) -> CInt? {
    guard let file = names[path] else { return objection(to: path) ?? ENOENT }
    if file.isDirectory { return EISDIR }
    names[path] = nil
    return nil
  }

  /// Renames a file. Returns the error number if that is impossible, or nil. `rename(2)`
  mutating func rename(_ path: String, to other: String) -> CInt? {
    guard let file = names[path] else { return objection(to: path) ?? ENOENT }
    if let code = objection(to: other) { return code }
    // Renaming a directory is not simulated.
    if file.isDirectory { return ENOSYS }
    if names[other]?.isDirectory == true { return EISDIR }
    names[path] = nil
    names[other] = file
    return nil
  }

  /// Names in a directory, in order.
  func entries(of path: String) -> [String] {
    names.keys.filter { $0 != "/" && Paths.directory(of: $0) == path }.map(Paths.lastPart(of:)).sorted()
  }
}
