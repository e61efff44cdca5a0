// The clock of listening time (the time in which peers were read), by itself, and the loop that keeps it.

import Glibc
import Posix
import Testing
import Time

@Suite struct ListeningClockTests {
  private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test("while the process polls again and again it runs like the monotonic clock")
  func attentive() {
    var time = ListeningClock(at: at(0), stride: .milliseconds(250))
    for moment in stride(from: Int64(100), through: 10_000, by: 100) {
      time.recordPoll(at: at(moment))
      time.advance(to: at(moment + 30))
    }
    #expect(time.now == at(10_030))
  }

  @Test("a stall counts for one stride, wherever in an iteration it happens")
  func stalls() {
    var time = ListeningClock(at: at(0), stride: .milliseconds(250))
    time.recordPoll(at: at(12_000))
    #expect(time.now == at(250), "stopped while it waited")
    time.advance(to: at(12_010))
    #expect(time.now == at(250), "the rest of the stride is zero")
    time.recordPoll(at: at(12_020))
    time.advance(to: at(20_000))
    time.advance(to: at(30_000))
    #expect(time.now == at(500), "two readings within one iteration are one iteration")
    time.advance(to: at(29_000))
    #expect(time.now == at(500), "a late reading takes nothing back")
  }

  @Test("a process that stalls in every iteration still judges, after a bounded number of them")
  func alwaysStalled() {
    var time = ListeningClock(at: at(0), stride: .milliseconds(250))
    for turn in 1...40 { time.recordPoll(at: at(Int64(turn) * 12_000)) }
    #expect(time.now == at(10_000))
  }

  @Test("a deadline is approached in strides, and one that has passed is met at once")
  func waking() {
    var time = ListeningClock(at: at(1_000), stride: .milliseconds(250))
    #expect(time.wakeTime(for: at(1_100)) == at(1_100))
    #expect(time.wakeTime(for: at(9_000)) == at(1_250))
    #expect(time.wakeTime(for: MonotonicTime(nanoseconds: .max)) == at(1_250))
    #expect(time.wakeTime(for: at(900)) == at(1_000))
    time.recordPoll(at: at(5_000))
    #expect(time.now == at(1_250))
    #expect(time.wakeTime(for: at(1_300)) == at(5_050))
  }

  @Test("messages of all peers are handled, also if they are more than one batch")
  func allPeers() throws {
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
    try loop.handlePendingInput()
    #expect(heard.count == 300)
    withExtendedLifetime(pairs) {}
  }

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
