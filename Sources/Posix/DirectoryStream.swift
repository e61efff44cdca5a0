// Listing of a directory in parts.
// Invariant: a name that exists from the first part to the last is returned once. Errors: SystemError with the
// path.
import ByteText
import Glibc

/// The names in a directory. `opendir(3)`, `readdir(3)`
public final class DirectoryStream {
  private let path: String
  private let stream: OpaquePointer?
  /// The remaining names on a simulated machine.
  private var simulated: ArraySlice<String> = []

  /// Opens a directory.
  public init(_ path: String) throws(SystemError) {
    self.path = path
    if Kernel.simulated != nil {
      simulated = try Directory.entries(of: path)[...]
      stream = nil
      return
    }
    let number = try pathCall("open", path) { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let opened = fdopendir(number) else {
      let code = errno
      Glibc.close(number)
      throw SystemError(call: "fdopendir", subject: path, code: code)
    }
    stream = opened
  }

  deinit { if let stream { closedir(stream) } }

  /// Returns at most `limit` of the next names, without `.` and `..`, in no particular order; an empty array at
  /// the end.
  public func next(_ limit: Int) throws(SystemError) -> [String] {
    guard let stream else {
      defer { simulated = simulated.dropFirst(limit) }
      return Array(simulated.prefix(limit))
    }
    var names: [String] = []
    while names.count < limit {
      // readdir returns null at the end and on an error; only errno distinguishes them.
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(call: "readdir", subject: path, code: errno) }
        break
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { ByteText.text(of: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
