// Owns the seam between the bank and the machine that it runs on: what a process at work asks of the kernel goes through
// here, and a thread can be put on a simulated machine, on which the same processes then run.
// Invariant: a thread that nobody has put on one asks Linux; that it could have been costs a look at one word of the
// thread's own memory. Everything above this file is the same code on both.
// Failure: as the calls themselves: -1 and errno.
import CLinux
import Glibc
import Time

/// What a process asks of its kernel, under the names and with the results of the manual: -1 and `errno` for a failure
/// (a number of a descriptor, of bytes, or 0 otherwise). A simulated kernel answers in place of Linux.
///
/// A kernel is asked by one process on one thread. It never waits: whoever runs the process calls it when there is
/// something to do.
public protocol SystemCalls: AnyObject {
  /// Whether a mistake is to be made here, to see that it is found. See ``Kernel/makes(_:)``.
  func makes(_ mistake: StaticString) -> Bool

  /// CLOCK_MONOTONIC. `clock_gettime(2)`
  var monotonic: MonotonicTime { get }
  /// CLOCK_REALTIME. `clock_gettime(2)`
  var wall: WallTime { get }
  /// 64 random bits. `getrandom(2)`
  func random() -> UInt64
  /// `open(2)`, closed on exec.
  func open(_ path: String, flags: CInt, mode: mode_t) -> CInt
  /// `close(2)`
  func close(_ descriptor: CInt) -> CInt
  /// `read(2)`, `recv(2)`
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer) -> Int
  /// `write(2)`, `send(2)` with MSG_NOSIGNAL
  func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int
  /// `pread(2)`
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int
  /// `pwrite(2)`
  func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int
  /// `fsync(2)`
  func sync(_ descriptor: CInt) -> CInt
  /// `ftruncate(2)`
  func truncate(_ descriptor: CInt, to size: Int64) -> CInt
  /// `fcntl(2)` F_SETFL, O_NONBLOCK
  func setNonBlocking(_ descriptor: CInt, _ nonBlocking: Bool) -> CInt
  /// `fcntl(2)` F_DUPFD_CLOEXEC
  func duplicate(_ descriptor: CInt, atLeast lowest: CInt) -> CInt
  /// The soft limit of open files. `getrlimit(2)` RLIMIT_NOFILE
  var openFileLimit: UInt64 { get }

  /// `epoll_create1(2)`
  func makeEpoll() -> CInt
  /// `epoll_ctl(2)` EPOLL_CTL_ADD
  func add(_ descriptor: CInt, to epoll: CInt, interest: Interest, token: UInt64) -> CInt
  /// `epoll_ctl(2)` EPOLL_CTL_MOD
  func modify(_ descriptor: CInt, in epoll: CInt, interest: Interest, token: UInt64) -> CInt
  /// `epoll_ctl(2)` EPOLL_CTL_DEL
  func remove(_ descriptor: CInt, from epoll: CInt) -> CInt
  /// What is ready now, at most so many; nothing when the deadline has come. Nobody waits here: nil, and thereby EAGAIN,
  /// says that the process is to be left alone until something is ready or the deadline has come. `epoll_wait(2)`
  func ready(in epoll: CInt, atMost limit: Int, until deadline: MonotonicTime?) -> [(UInt64, Readiness)]?
  /// Lets others run. `sched_yield(2)`
  func giveWay()
  /// `socket(2)` AF_UNIX, SOCK_STREAM
  func makeSocket(nonBlocking: Bool) -> CInt
  /// `bind(2)` to a name, with these permissions, and `listen(2)`
  func listen(_ socket: CInt, at path: String, backlog: CInt, mode: mode_t) -> CInt
  /// `connect(2)`
  func connect(_ socket: CInt, to path: String) -> CInt
  /// `accept4(2)`, non-blocking
  func accept(_ socket: CInt) -> CInt
  /// `socketpair(2)`; nil where it fails.
  func makePair(nonBlocking: Bool) -> (CInt, CInt)?
  /// `pipe2(2)`, the reading end first; nil where it fails.
  func makePipe() -> (CInt, CInt)?
  /// `getsockopt(2)` SO_PEERCRED; nil where it fails.
  func peer(of socket: CInt) -> UnixSocket.Peer?
  /// `shutdown(2)` SHUT_WR
  func shutdownWriting(_ socket: CInt) -> CInt
  /// `shutdown(2)` SHUT_RD
  func shutdownReading(_ socket: CInt) -> CInt
  /// `socket(2)` AF_UNIX, SOCK_DGRAM, non-blocking
  func makeDatagramSocket() -> CInt
  /// `bind(2)` of a datagram socket to a name
  func bind(_ socket: CInt, to path: String) -> CInt
  /// Sends one datagram from a socket without a name; 0, or -1. `sendto(2)`
  func send(_ datagram: [UInt8], to path: String) -> CInt
  /// `flock(2)`
  func lock(_ descriptor: CInt, _ operation: CInt) -> CInt
  /// What lies under a name; nil with ENOENT where nothing does. `stat(2)`
  func facts(of path: String) -> FileFacts?
  /// `fstat(2)`; nil with EBADF where there is no such descriptor.
  func facts(of descriptor: CInt) -> FileFacts?
  /// `unlink(2)`
  func unlink(_ path: String) -> CInt
  /// `rename(2)`
  func rename(_ path: String, to other: String) -> CInt
  /// `mkdir(2)`
  func makeDirectory(_ path: String, mode: mode_t) -> CInt
  /// The names in a directory, without `.` and `..`; nil where it cannot be read. `readdir(3)`
  func entries(of path: String) -> [String]?
  /// Where a symbolic link leads; nil where it cannot be read. `readlink(2)`
  func target(ofLink path: String) -> String?
  /// `inotify_init1(2)`
  func makeWatch() -> CInt

  /// `getpid(2)`
  var processID: pid_t { get }
  /// `getppid(2)`
  var parentID: pid_t { get }
  /// The variables that the process was started with. `environ(7)`
  var environment: Variables { get }
  /// `geteuid(2)`
  var effectiveUser: uid_t { get }
  /// Starts a program; its process id, or -1. The descriptors are those that the child gets as 0, 1, 2, 3 and 4, or -1. One
  /// that leads a session is in a process group of its own. `posix_spawn(3)`
  func spawn(
    _ path: String, arguments: [String], environment: [String], descriptors: [CInt], leadsSession: Bool
  ) -> pid_t
  /// `pidfd_open(2)`
  func openProcess(_ pid: pid_t) -> CInt
  /// `kill(2)`, where the process is a child that was not reaped, or the group that of one.
  func signal(_ pid: pid_t, _ signal: CInt) -> CInt
  /// `pidfd_send_signal(2)`
  func signal(through descriptor: CInt, _ signal: CInt) -> CInt
  /// `wait4(2)`; nil while the child runs, and nobody waits for it.
  func reap(_ pid: pid_t, waiting: Bool) -> ExitStatus?
  /// `signalfd(2)`, non-blocking
  func makeSignalDescriptor(_ signals: [CInt]) -> CInt
  /// The next signal from such a descriptor; nil where none waits.
  func readSignal(_ descriptor: CInt) -> CInt?
  /// `prctl(2)` PR_SET_CHILD_SUBREAPER
  func becomeSubreaper()
  /// /proc/self/task/*/children
  var children: [pid_t] { get }
  /// Whether this process has started the child itself, and has not reaped it.
  func hasStarted(_ pid: pid_t) -> Bool
  /// `getpgid(2)`; nil where there is no such process.
  func group(of pid: pid_t) -> pid_t?
  /// The numbers in /proc, zombies among them.
  var processes: [pid_t] { get }
  /// Field 4 of /proc/PID/stat; nil where there is no such process.
  func parent(of pid: pid_t) -> pid_t?
  /// Fields of /proc/PID/stat; nil where there is no such process. `proc_pid_stat(5)`
  func activity(of pid: pid_t) -> ProcessTable.Activity?
}

/// The kernel that the present thread asks.
public enum Kernel {
  private final class Seat {
    let calls: any SystemCalls
    init(_ calls: any SystemCalls) { self.calls = calls }
  }

  /// Runs a part of a process on a simulated machine: everything that it asks for is asked of `calls`.
  ///
  /// It may be called from within itself, for another process; the outer one goes on with its own.
  public static func run<Result, Failure: Error>(
    on calls: any SystemCalls, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let seat = Seat(calls)
    let before = linux_thread_kernel()
    linux_set_thread_kernel(Unmanaged.passUnretained(seat).toOpaque())
    defer {
      linux_set_thread_kernel(before)
      withExtendedLifetime(seat) {}
    }
    return try body()
  }

  /// Whether a mistake of this name is to be made at this place: one that was made once, or could be, and that the checkers
  /// of a simulation have to find. On Linux none is made.
  @inline(__always)
  public static func makes(_ mistake: @autoclosure () -> StaticString) -> Bool {
    guard let seat = linux_thread_kernel() else { return false }
    return calls(of: seat).makes(mistake())
  }

  /// Whether this thread asks Linux: for what no simulation has, so that it costs its histories nothing.
  public static var isLinux: Bool { simulated == nil }

  /// The simulated kernel of this thread, for what it answers besides the calls of Linux; nil for Linux.
  public static var simulation: (any SystemCalls)? { simulated }

  /// The simulated kernel of this thread; nil for Linux.
  @inline(__always)
  static var simulated: (any SystemCalls)? {
    guard let seat = linux_thread_kernel() else { return nil }
    return calls(of: seat)
  }

  @inline(never)
  private static func calls(of seat: UnsafeMutableRawPointer) -> any SystemCalls {
    Unmanaged<Seat>.fromOpaque(seat).takeUnretainedValue().calls
  }
}
