// Event loops that cannot watch for a while, as if the kernel had no watch left. Invariant: only loops that
// were created during `find` are spoiled; a test that uses it has a process of its own.

import Glibc
import Posix

/// The event loops that a closure has created in this process.
public struct BrokenEventLoops {
  /// Each descriptor, and a copy for its repair.
  private let loops: [(number: CInt, kept: CInt)]

  /// Finds the event loops that `make` creates.
  public static func find<Made>(in make: () throws -> Made) rethrows -> (made: Made, loops: BrokenEventLoops)
  {
    let others = numbers
    let made = try make()
    return (made, BrokenEventLoops(loops: numbers.subtracting(others).map { ($0, dup($0)) }))
  }

  /// From here on the kernel refuses every new watch of a loop. `epoll_ctl(2)`
  public func breakLoops() {
    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
    for loop in loops { dup2(file, loop.number) }
    close(file)
  }

  /// The loops watch again, including all earlier watches.
  public func restore() { for loop in loops { dup2(loop.kept, loop.number) } }

  private static var numbers: Set<CInt> {
    let names = (try? Directory.entries(of: "/proc/self/fd")) ?? []
    return Set(
      names.compactMap { CInt($0) }.filter { descriptor in
        var text = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/fd/\(descriptor)", &text, text.count)
        return count > 0
          && String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            == "anon_inode:[eventpoll]"
      })
  }
}
