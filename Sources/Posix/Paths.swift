// Paths as text: joining, splitting, making absolute.
// Errors: SystemError from the kernel (working directory, symbolic links).
import ByteText
import Glibc

/// Operations on paths as text.
public enum Paths {
  /// Appends parts to `directory`. An absolute part replaces all parts before it.
  public static func join(_ directory: String, _ parts: String...) -> String {
    var path = directory
    for part in parts where !part.isEmpty {
      if part.utf8.first == UInt8(ascii: "/") || path.isEmpty {
        path = part
      } else {
        path += path.utf8.last == UInt8(ascii: "/") ? part : "/" + part
      }
    }
    return path
  }

  /// The path without its last component: `/a/b` for `/a/b/c`, `/` for `/a`, `.` for `a`. `dirname(3)`
  public static func directory(of path: String) -> String {
    let bytes = trimmed(path)
    guard !bytes.isEmpty else { return path.isEmpty ? "." : "/" }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    let before = trimmed(bytes[..<slash])
    return before.isEmpty ? "/" : ByteText.text(of: before)
  }

  /// The last component: `c` for `/a/b/c` and for `/a/b/c/`; `/` for the root. `basename(3)`
  public static func lastPart(of path: String) -> String {
    let bytes = trimmed(path)
    guard !bytes.isEmpty else { return path.isEmpty ? "." : "/" }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
      return ByteText.text(of: bytes)
    }
    return ByteText.text(of: bytes[(slash + 1)...])
  }

  /// The absolute path, based on the current working directory. Components `.` and `..` and symbolic links are
  /// kept. `getcwd(3)`
  public static func absolute(_ path: String) throws(SystemError) -> String {
    if path.utf8.first == UInt8(ascii: "/") { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard getcwd(&buffer, buffer.count) != nil else {
      throw SystemError(call: "getcwd", subject: path, code: errno)
    }
    return join(text(buffer), path)
  }

  /// Path of the program file that this process runs. `proc(5)` /proc/self/exe
  public static func executable() throws(SystemError) -> String { try target(ofLink: "/proc/self/exe") }

  /// Target of a symbolic link. `readlink(2)`
  public static func target(ofLink path: String) throws(SystemError) -> String {
    if let kernel = Kernel.simulated {
      guard let target = kernel.target(ofLink: path) else {
        throw SystemError(call: "readlink", subject: path, code: errno)
      }
      return target
    }
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = try pathCall("readlink", path) { link in
      buffer.withUnsafeMutableBytes {
        readlink(link, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
    }
    return ByteText.text(of: buffer[..<count])
  }

  /// Bytes of a path without slashes at its end.
  private static func trimmed(_ path: String) -> ArraySlice<UInt8> { trimmed(ByteText.bytes(of: path)[...]) }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes
  }

  private static func text(_ buffer: [CChar]) -> String {
    ByteText.text(of: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
  }
}
