// Creation, listing and syncing of directories, and changes of the names in them.
// Invariant: a directory created here never had more permissions than requested.
// Errors: SystemError with the path that failed. It may be a parent of the requested path.
import ByteText
import Glibc

/// Operations on directories and on names in them.
public enum Directory {
  /// Absolute path of the working directory. `getcwd(3)`
  public static func current() throws(SystemError) -> String {
    guard let path = getcwd(nil, 0) else { throw SystemError(call: "getcwd", subject: ".", code: errno) }
    defer { free(path) }
    return ByteText.text(of: path)
  }

  /// Creates a directory. An existing directory is not changed; any other file at the path is an error (EEXIST).
  /// `mkdir(2)`
  ///
  /// - Parameters:
  ///   - mode: permissions of every created directory, less the umask.
  ///   - recursive: also creates missing parents.
  public static func create(path: String, mode: mode_t = 0o700, recursive: Bool = true) throws(SystemError) {
    do throws(SystemError) { try pathCall("mkdir", path) { Kernel.makeDirectory($0, mode: mode) } } catch {
      switch error.code {
      case EEXIST: guard let facts = try FileMetadata.inspect(path), facts.isDirectory else { throw error }
      case ENOENT where recursive && Paths.directory(of: path) != path && !path.isEmpty:
        try create(path: Paths.directory(of: path), mode: mode, recursive: true)
        try create(path: path, mode: mode, recursive: false)
      default: throw error
      }
    }
  }

  /// The names in a directory in no particular order, without `.` and `..`. `readdir(3)`
  public static func entries(of path: String) throws(SystemError) -> [String] {
    if let kernel = Kernel.simulated {
      guard let names = kernel.entries(of: path) else {
        throw SystemError(call: "open", subject: path, code: errno)
      }
      return names
    }
    let number = try pathCall("open", path) { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = fdopendir(number) else {
      let code = errno
      Glibc.close(number)
      throw SystemError(call: "fdopendir", subject: path, code: code)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      // readdir returns null at the end and on an error; only errno distinguishes them.
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(call: "readdir", subject: path, code: errno) }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { ByteText.text(of: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
  }

  /// Renames a file. An existing file with the new name is replaced. `rename(2)`
  public static func rename(_ path: String, to other: String) throws(SystemError) {
    guard !other.utf8.contains(0) else { throw SystemError(call: "rename", subject: other, code: EINVAL) }
    try pathCall("rename", path) { from in other.withByteString { Kernel.rename(from, to: $0) } }
  }

  /// Removes a name. The kernel deletes the file when its last descriptor is closed, if it has no other name.
  /// `unlink(2)`
  public static func unlink(_ path: String) throws(SystemError) {
    try pathCall("unlink", path) { Kernel.unlink($0) }
  }

  /// Removes a file, or a directory with all its contents. A symbolic link is removed without its target.
  /// Entries that cannot be removed are kept. `unlink(2)`, `rmdir(2)`
  public static func removeTree(_ path: String) {
    guard let facts = try? FileMetadata.inspect(path, followLinks: false) else { return }
    guard facts.isDirectory else { return _ = try? unlink(path) }
    for name in (try? entries(of: path)) ?? [] { removeTree(Paths.join(path, name)) }
    _ = path.withByteString { rmdir($0) }
  }

  /// Removes an empty directory. A directory with entries is kept. Returns true if the directory does not exist any
  /// more. `rmdir(2)`
  @discardableResult
  public static func removeEmpty(_ path: String) -> Bool {
    path.withByteString { rmdir($0) } == 0 || errno == ENOENT
  }

  /// Makes the names in a directory durable: files that were just created, renamed or removed. `fsync(2)`
  public static func sync(_ path: String) throws(SystemError) {
    try FileDescriptor.open(path, [.readOnly, .directory]).sync()
  }
}
