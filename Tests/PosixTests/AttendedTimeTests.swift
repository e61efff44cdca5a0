// The clock of the time in which others were heard, without a clock; and the loop that keeps it.

import Glibc
import Posix
import Testing
import Time

@Suite struct AttendedTimeTests {
  private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test("while somebody listens again and again it goes on as the steady clock does")
  func attentive() {
    var time = AttendedTime(at: at(0), stride: .milliseconds(250))
    for moment in stride(from: Int64(100), through: 10_000, by: 100) {
      time.listened(at: at(moment))
      time.advance(to: at(moment + 30))
    }
    #expect(time.now == at(10_030))
  }

  @Test("a stall counts for one stride, wherever in a turn it falls")
  func stalls() {
    var time = AttendedTime(at: at(0), stride: .milliseconds(250))
    time.listened(at: at(12_000))
    #expect(time.now == at(250), "stopped while it waited")
    time.advance(to: at(12_010))
    #expect(time.now == at(250), "what is left of the stride is nothing")
    time.listened(at: at(12_020))
    time.advance(to: at(20_000))
    time.advance(to: at(30_000))
    #expect(time.now == at(500), "two readings within one turn are one turn")
    time.advance(to: at(29_000))
    #expect(time.now == at(500), "a reading that came too late takes nothing back")
  }

  @Test("whoever stalls at every turn still comes to judge, after a bounded number of turns")
  func alwaysStalled() {
    var time = AttendedTime(at: at(0), stride: .milliseconds(250))
    for turn in 1...40 { time.listened(at: at(Int64(turn) * 12_000)) }
    #expect(time.now == at(10_000))
  }

  @Test("a deadline is looked for in strides, and one that has passed at once")
  func waking() {
    var time = AttendedTime(at: at(1_000), stride: .milliseconds(250))
    #expect(time.wake(for: at(1_100)) == at(1_100))
    #expect(time.wake(for: at(9_000)) == at(1_250))
    #expect(time.wake(for: MonotonicTime(nanoseconds: .max)) == at(1_250))
    #expect(time.wake(for: at(900)) == at(1_000))
    time.listened(at: at(5_000))
    #expect(time.now == at(1_250))
    #expect(time.wake(for: at(1_300)) == at(5_050))
  }

  @Test("everybody who has spoken is heard, also where they are more than one batch")
  func everybody() throws {
    let loop = try EventLoop()
    var heard = Set<Int>()
    var pairs: [SocketPair] = []
    for number in 0..<300 {
      let pair = SocketPair(try UnixSocket.pair())
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
      _ = try loop.register(fd: pair.mine, interest: .read) { [mine = pair.mine] _ in
        _ = recv(mine, buffer.baseAddress, 16, 0)
        heard.insert(number)
      }
      #expect(write(pair.theirs, "x", 1) == 1)
      pairs.append(pair)
    }
    try loop.hearEverybody()
    #expect(heard.count == 300)
    withExtendedLifetime(pairs) {}
  }

  /// Holds two descriptors in a list.
  private final class SocketPair {
    let first: FileDescriptor
    let second: FileDescriptor
    var mine: CInt { first.rawValue }
    var theirs: CInt { second.rawValue }

    init(_ pair: consuming DescriptorPair) {
      first = pair.first
      second = pair.second
    }
  }
}
