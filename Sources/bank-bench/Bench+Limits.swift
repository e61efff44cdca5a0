// Owns the raw limits of the machine, which no program can pass: a durable write, and a round trip over a socket.
// It must not use anything of the bank, or it would compare the bank with itself.
import Glibc
import Posix

extension Bench {
  func measureLimits() throws {
    let syncs = try rounds { try syncsPerSecond(for: thoroughness.span) }
    add("limits", "write + fdatasync of 4 KiB", "/s", syncs)
    let trips = try rounds { try tripsPerSecond(of: 3, for: thoroughness.span) }
    add(
      "limits", "Unix-socket ping-pong, 3 workers", "/s", trips, note: "one poller; 40 bytes there, 20 back")
  }

  /// Round trips between one poller and so many workers.
  func tripsPerSecond(of workers: Int, for span: Duration) throws -> Double {
    try PingPong(program: Paths.join(programs, "bank-bench"), workers: workers).tripsPerSecond(for: span)
  }

  /// Overwrites the same blocks again and again, as a write-ahead log does that has reached its size.
  func syncsPerSecond(for span: Duration) throws -> Double {
    let path = Paths.join(scratch, "sync")
    defer { Scratch.remove(path) }
    let blocks: Int64 = 1_024
    let file = try FileDescriptor.open(path, [.readWrite, .create])
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 4_096)
    defer { block.deallocate() }
    block.initializeMemory(as: UInt8.self, repeating: 7)
    for number in 0..<blocks { try file.write(UnsafeRawBufferPointer(block), at: number * 4_096) }
    try file.sync()
    let begin = SystemClock.monotonic()
    var count: Int64 = 0
    while SystemClock.monotonic() - begin < span {
      try file.write(UnsafeRawBufferPointer(block), at: count % blocks * 4_096)
      guard fdatasync(file.rawValue) == 0 else {
        throw SystemError(call: "fdatasync", subject: path, code: errno)
      }
      count += 1
    }
    return Double(count) / (SystemClock.monotonic() - begin).seconds
  }
}
