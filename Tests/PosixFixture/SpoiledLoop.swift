// Owns event loops that watch nothing for a while, as if the kernel had no watch left.
// Invariant: only the loops that were made while it looked are spoiled; a test that uses it has a process of its own.

import Glibc
import Posix

/// The event loops that something has made in this process.
public struct SpoiledLoop {
  /// Each descriptor, and a copy by which it is mended.
  private let loops: [(number: CInt, kept: CInt)]

  /// Notes the event loops that `make` makes.
  public static func find<Made>(in make: () throws -> Made) rethrows -> (made: Made, loops: SpoiledLoop) {
    let others = numbers
    let made = try make()
    return (made, SpoiledLoop(loops: numbers.subtracting(others).map { ($0, dup($0)) }))
  }

  /// From here on everything that a loop is asked to watch is refused by the kernel. `epoll_ctl(2)`
  public func spoil() {
    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
    for loop in loops { dup2(file, loop.number) }
    close(file)
  }

  /// The loops watch again, and whatever they watched before.
  public func mend() { for loop in loops { dup2(loop.kept, loop.number) } }

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
