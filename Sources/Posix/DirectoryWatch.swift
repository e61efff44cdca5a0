// The inotify descriptor, which reports changes in directories without polling.
// Errors: SystemError. A missing path is ENOENT, too many watches are ENOSPC.
import ByteText
import Glibc

/// Reports changes in directories. Register its descriptor with an event loop to wait for them. `inotify(7)`
public final class DirectoryWatch {
  /// Handle of one watched directory, valid until the watch is removed or the directory is deleted.
  public struct Token: Sendable, Hashable {
    let number: CInt
  }

  /// Kinds of changes to a directory, and to names in it, that a watch reports.
  public struct Changes: OptionSet, Sendable, Hashable {
    /// The bits of `inotify(7)`.
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A file in the directory was written to or truncated. IN_MODIFY
    public static let modified = Changes(rawValue: UInt32(IN_MODIFY))
    /// A name was created. IN_CREATE
    public static let created = Changes(rawValue: UInt32(IN_CREATE))
    /// A name was removed. IN_DELETE
    public static let deleted = Changes(rawValue: UInt32(IN_DELETE))
    /// A file lost this name by a rename. IN_MOVED_FROM
    public static let movedFrom = Changes(rawValue: UInt32(IN_MOVED_FROM))
    /// A file got this name by a rename. IN_MOVED_TO
    public static let movedTo = Changes(rawValue: UInt32(IN_MOVED_TO))
    /// The directory itself was removed. IN_DELETE_SELF
    public static let selfDeleted = Changes(rawValue: UInt32(IN_DELETE_SELF))
    /// The directory itself was renamed; the watch follows it. IN_MOVE_SELF
    public static let selfMoved = Changes(rawValue: UInt32(IN_MOVE_SELF))
    /// The watch has ended, and its token is no longer valid. It is reported without being requested. IN_IGNORED
    public static let ended = Changes(rawValue: UInt32(IN_IGNORED))
    /// The kernel dropped events, so the caller has to examine everything again. It is reported without being
    /// requested, with no token. IN_Q_OVERFLOW
    public static let overflowed = Changes(rawValue: UInt32(IN_Q_OVERFLOW))
    /// Any change after which a name in the directory may lead to another file.
    public static let names: Changes = [.created, .deleted, .movedFrom, .movedTo]
    /// Any change after which the path of the directory may lead to another directory.
    public static let selfChanges: Changes = [.selfDeleted, .selfMoved]
  }

  /// One reported change.
  public struct Event: Sendable, Hashable {
    /// The watched directory; nil for ``Changes/overflowed``.
    public let token: Token?
    /// Kinds of changes in this event.
    public let changes: Changes
    /// Name in the directory; empty if the event is about the directory itself.
    public let name: String
  }

  private let descriptor: FileDescriptor
  private let buffer: UnsafeMutableRawBufferPointer

  /// Makes a watch without directories. `inotify_init1(2)`
  public init() throws(SystemError) {
    descriptor = try FileDescriptor("inotify_init1") { Kernel.makeWatch() }
    buffer = .allocate(byteCount: 64 << 10, alignment: MemoryLayout<inotify_event>.alignment)
  }

  deinit { buffer.deallocate() }

  /// Descriptor for an event loop, readable when events are pending. It is borrowed: do not close it.
  public var fd: CInt { descriptor.rawValue }

  /// Watches a directory. A second call for the same directory replaces the kinds of reported changes and
  /// returns the same token. `inotify_add_watch(2)`
  ///
  /// - Throws: ENOENT for a missing path, ENOTDIR for a file that is not a directory, EACCES for a directory that
  ///   this process may not read, ENOSPC for too many watches.
  public func add(_ path: String, _ changes: Changes) throws(SystemError) -> Token {
    let number = descriptor.rawValue
    let mask = changes.rawValue | UInt32(IN_ONLYDIR)
    return Token(number: try pathCall("inotify_add_watch", path) { inotify_add_watch(number, $0, mask) })
  }

  /// Stops watching; does nothing for a token whose watch has ended. `inotify_rm_watch(2)`
  public func remove(_ token: Token) { _ = inotify_rm_watch(descriptor.rawValue, token.number) }

  /// Returns the events since the last call, oldest first; empty if there are none. Does not block.
  public func take() throws(SystemError) -> [Event] {
    var events: [Event] = []
    while case .bytes(let count) = try descriptor.read(into: buffer) {
      var offset = 0
      while offset < count {
        let header = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        let padded = buffer[start..<(start + Int(header.len))]
        let token = header.wd == -1 ? nil : Token(number: header.wd)
        // The kernel pads the name with zeros to align the next event.
        let name = ByteText.text(of: padded.prefix { $0 != 0 })
        events.append(Event(token: token, changes: Changes(rawValue: header.mask), name: name))
        offset = start + Int(header.len)
      }
    }
    return events
  }
}
