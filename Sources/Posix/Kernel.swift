// Boundary between the bank and its machine: the system calls that a simulation replaces pass through `Kernel`.
// A thread can be switched to a simulated machine, on which the same code then runs. Features that simulations do
// not support call Linux directly.
// Invariant: a thread without a simulated machine calls Linux.
// Errors: those of the calls themselves: -1 and errno.
import CLinux
import Glibc
import Time

/// System calls of a process, with the results of their manual pages: -1 and `errno` for an error, or
/// else a descriptor, a number of bytes, or 0. A simulated kernel implements the calls in place of Linux.
///
/// One process on one thread uses a kernel. A call does not block: the simulation runs the process when events
/// are pending.
public protocol SystemCalls: AnyObject {
  #if MUTANTS
    /// The planted bug of the simulated process; nil for none.
    var mutant: Mutant? { get }
  #endif

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
  /// Ready events, at most `limit`; empty at the deadline. The call does not block. Nil, reported as EAGAIN,
  /// means that the simulation has to suspend the process until an event is ready or the deadline is reached.
  /// `epoll_wait(2)`
  func ready(in epoll: CInt, atMost limit: Int, until deadline: MonotonicTime?) -> [(UInt64, Readiness)]?
  /// Yields to other processes. `sched_yield(2)`
  func yieldProcessor()
  /// `socket(2)` AF_UNIX, SOCK_STREAM
  func makeSocket(nonBlocking: Bool) -> CInt
  /// `bind(2)` to a path, with these permissions, and `listen(2)`
  func listen(_ socket: CInt, at path: String, backlog: CInt, mode: mode_t) -> CInt
  /// `connect(2)`
  func connect(_ socket: CInt, to path: String) -> CInt
  /// `accept4(2)`, non-blocking
  func accept(_ socket: CInt) -> CInt
  /// `socketpair(2)`; nil on failure.
  func makePair(nonBlocking: Bool) -> (CInt, CInt)?
  /// `pipe2(2)`, the reading end first; nil on failure.
  func makePipe() -> (CInt, CInt)?
  /// `getsockopt(2)` SO_PEERCRED; nil on failure.
  func peer(of socket: CInt) -> UnixSocket.Peer?
  /// `shutdown(2)` SHUT_WR
  func shutdownWriting(_ socket: CInt) -> CInt
  /// `shutdown(2)` SHUT_RD
  func shutdownReading(_ socket: CInt) -> CInt
  /// `socket(2)` AF_UNIX, SOCK_DGRAM, non-blocking
  func makeDatagramSocket() -> CInt
  /// `bind(2)` of a datagram socket to a path
  func bind(_ socket: CInt, to path: String) -> CInt
  /// Sends one datagram from an unbound socket; returns 0, or -1. `sendto(2)`
  func send(_ datagram: [UInt8], to path: String) -> CInt
  /// `flock(2)`
  func lock(_ descriptor: CInt, _ operation: CInt) -> CInt
  /// Metadata of the file with this path; nil with ENOENT if the path does not exist. `stat(2)`
  func metadata(of path: String) -> FileMetadata?
  /// `fstat(2)`; nil with EBADF if there is no such descriptor.
  func metadata(of descriptor: CInt) -> FileMetadata?
  /// `unlink(2)`
  func unlink(_ path: String) -> CInt
  /// `rename(2)`
  func rename(_ path: String, to other: String) -> CInt
  /// `mkdir(2)`
  func makeDirectory(_ path: String, mode: mode_t) -> CInt
  /// Names in a directory, without `.` and `..`; nil if it cannot be read. `readdir(3)`
  func entries(of path: String) -> [String]?
  /// Target of a symbolic link; nil if it cannot be read. `readlink(2)`
  func target(ofLink path: String) -> String?
  /// `inotify_init1(2)`
  func makeWatch() -> CInt

  /// `getpid(2)`
  var processID: pid_t { get }
  /// `getppid(2)`
  var parentID: pid_t { get }
  /// Environment with which the process was started. `environ(7)`
  var environment: EnvironmentVariables { get }
  /// `geteuid(2)`
  var effectiveUser: uid_t { get }
  /// Starts a program. Returns its process id, or -1. The elements of `descriptors` become 0, 1, 2, 3 and 4 of the
  /// child. -1 stands for the stream of this process for 0 to 2, and for no descriptor for 3 and 4. A session leader
  /// has its own process group. `posix_spawn(3)`
  func spawn(
    _ path: String, arguments: [String], environment: [String], descriptors: [CInt], leadsSession: Bool
  ) -> pid_t
  /// `pidfd_open(2)`
  func openProcess(_ pid: pid_t) -> CInt
  /// `kill(2)`, for a child that was not reaped, or for the process group of such a child.
  func signal(_ pid: pid_t, _ signal: CInt) -> CInt
  /// `pidfd_send_signal(2)`
  func signal(through descriptor: CInt, _ signal: CInt) -> CInt
  /// `wait4(2)`; nil while the child runs, without blocking.
  func reap(_ pid: pid_t, waiting: Bool) -> ExitStatus?
  /// `signalfd(2)`, non-blocking
  func makeSignalDescriptor(_ signals: [CInt]) -> CInt
  /// The next signal from a signal descriptor; nil if none is pending.
  func readSignal(_ descriptor: CInt) -> CInt?
  /// `prctl(2)` PR_SET_CHILD_SUBREAPER
  func becomeSubreaper()
  /// /proc/self/task/*/children
  var children: [pid_t] { get }
  /// True if this process has started the child itself and has not reaped it.
  func hasStarted(_ pid: pid_t) -> Bool
  /// `getpgid(2)`; nil if there is no such process.
  func group(of pid: pid_t) -> pid_t?
  /// Process ids in /proc, including zombies.
  var processes: [pid_t] { get }
  /// Field 4 of /proc/PID/stat; nil if there is no such process.
  func parent(of pid: pid_t) -> pid_t?
  /// Fields of /proc/PID/stat; nil if there is no such process. `proc_pid_stat(5)`
  func activity(of pid: pid_t) -> ProcessTable.Activity?
}

/// Access of the current thread to its kernel: Linux, or a simulated one.
public enum Kernel {
  /// Object that retains a simulated kernel, so that a thread can refer to it by a pointer.
  private final class SystemCallsBox {
    let calls: any SystemCalls
    init(_ calls: any SystemCalls) { self.calls = calls }
  }

  /// Runs `body` on a simulated machine: its system calls that a simulation replaces are passed to `calls`.
  ///
  /// Calls may be nested, for another process.
  public static func run<Result, Failure: Error>(
    on calls: any SystemCalls, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let box = SystemCallsBox(calls)
    let before = linux_thread_kernel()
    linux_set_thread_kernel(Unmanaged.passUnretained(box).toOpaque())
    defer {
      linux_set_thread_kernel(before)
      withExtendedLifetime(box) {}
    }
    return try body()
  }

  /// True if this thread calls Linux. Check it for a feature that simulations do not support.
  public static var isLinux: Bool { simulated == nil }

  /// Simulated kernel of this thread, for queries that are not system calls; nil for Linux.
  public static var simulation: (any SystemCalls)? { simulated }

  /// Simulated kernel of this thread; nil for Linux.
  @inline(__always)
  static var simulated: (any SystemCalls)? {
    guard let box = linux_thread_kernel() else { return nil }
    return calls(of: box)
  }

  @inline(never)
  private static func calls(of box: UnsafeMutableRawPointer) -> any SystemCalls {
    Unmanaged<SystemCallsBox>.fromOpaque(box).takeUnretainedValue().calls
  }
}
