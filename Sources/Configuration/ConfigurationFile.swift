// Owns the way from a file's name to its JSON tree: what is no file, what is too long, what is no JSON.
// It must not know which keys a file has. Nothing of a refused file is used.

import Glibc
import Posix

/// A file that something is configured in.
enum ConfigurationFile {
  /// The longest file, in bytes.
  static let longest = 1 << 20

  /// All bytes of a file.
  ///
  /// - Throws: ``ConfigurationError``; a file that is not there is ``ConfigurationError/Reason/notFound``.
  static func bytes(of path: String) throws(ConfigurationError) -> [UInt8] {
    // Opening a pipe would wait for a writer, and whoever reads a configuration again has a bank to run.
    if let facts = try? FileFacts.inspect(path), !facts.isFile, !facts.isDirectory {
      throw ConfigurationError(path: path, reason: .notAFile)
    }
    do throws(SystemError) {
      return try FileDescriptor.open(path, .readOnly).readAll(limit: longest)
    } catch {
      let reason: ConfigurationError.Reason =
        switch error.code {
        case ENOENT, ENOTDIR: .notFound
        case EFBIG: .tooLong
        default: .unreadable(error.description)
        }
      throw ConfigurationError(path: path, reason: reason)
    }
  }

  /// The value that the bytes of a file hold.
  static func root(of bytes: [UInt8], path: String) throws(ConfigurationError) -> ConfigurationReader {
    guard bytes.count <= longest else { throw ConfigurationError(path: path, reason: .tooLong) }
    do throws(JSONFault) {
      return ConfigurationReader(path: path, key: nil, node: try JSONReader.read(bytes))
    } catch {
      throw ConfigurationError(path: path, line: error.line, reason: .syntax(error.reason))
    }
  }
}
