// Linux calls that Swift's Glibc module does not import, or whose types or constants are awkward in Swift; a spawn
// that leaves only given descriptors open; and state of this process.
// Invariant: nothing in this header needs _GNU_SOURCE, so Swift's own view of the C library is unchanged.
// Errors: as in C, -1 and errno, or an errno value if the comment says so. The caller repeats a call that fails with
// EINTR.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// epoll(7). The values are the kernel's, checked in linux.c.
enum {
  LINUX_READABLE = 0x001,
  LINUX_WRITABLE = 0x004,
  LINUX_ERROR = 0x008,
  LINUX_HANG_UP = 0x010,
  LINUX_PEER_CLOSED = 0x2000,
};

// One event: the ready conditions, and the token passed at registration. Unlike struct epoll_event it is not
// packed.
struct linux_event {
  uint64_t token;
  uint32_t ready;
};

// Maximum number of events returned by one linux_epoll_wait.
enum { LINUX_EVENT_BATCH = 256 };

// epoll_create1(2), epoll_ctl(2). `interest` is a set of the conditions above; `token` is returned with each event.
int linux_epoll_create(void);
int linux_epoll_add(int epoll, int fd, uint32_t interest, uint64_t token);
int linux_epoll_modify(int epoll, int fd, uint32_t interest, uint64_t token);
int linux_epoll_delete(int epoll, int fd);
// Waits at most timeout_ns nanoseconds; a negative value means no timeout. Without epoll_pwait2(2) the timeout
// is rounded up to milliseconds. Returns the number of events.
int linux_epoll_wait(int epoll, struct linux_event *events, int64_t timeout_ns);

// One signal, as read from a signalfd(2).
struct linux_signal {
  int32_t number;
  int32_t sender_pid;
  uint32_t sender_uid;
  int32_t code;
};
// signalfd(2). Blocks the signals for the calling thread, except those that are ignored, and returns a
// non-blocking descriptor.
int linux_signal_descriptor(const int *signals, int count);
// Returns 1 if a signal was read, 0 if none is pending, or -1 and errno.
int linux_signal_read(int fd, struct linux_signal *signal);
// Unblocks these signals for the calling thread. pthread_sigmask(3)
int linux_signals_unblock(const int *signals, int count);
// Set a signal to be ignored, or to its default. linux_signals_reset sets all signals to their default and unblocks
// them. sigaction(2)
int linux_signals_ignore(int signal);
int linux_signals_default(int signal);
int linux_signals_reset(void);
// Sets ignored signals to their default, except those in `kept`, records which signals are not at their
// default, and unblocks all signals. Afterwards dispositions should change only through the functions of this
// header; see signals.c.
int linux_signals_heed(const int *kept, int count);
// The highest signal number of the kernel.
enum { LINUX_SIGNALS = 64 };
// False only if the signal is known to be at its default.
bool linux_signal_may_be_disposed(int signal);
// True if the disposition of the signal is SIG_IGN.
bool linux_signal_is_ignored(int signal);
// Name of a signal without SIG, such as "KILL" for 9; NULL for an unknown one and for the realtime signals.
const char *linux_signal_abbreviation(int signal);
// SIGRTMIN and SIGRTMAX.
int linux_realtime_signal_minimum(void);
int linux_realtime_signal_maximum(void);

// prctl(2) PR_SET_PDEATHSIG and PR_SET_NAME, the name of the calling thread.
int linux_set_parent_death_signal(int signal);
int linux_set_name(const char *name);
// fcntl(2) F_OFD_SETLK: takes an exclusive lock on the whole file without waiting. The lock belongs to the open
// file description, and is independent of locks of flock(2). Returns -1 and EAGAIN if the file has a
// conflicting lock of fcntl(2).
int linux_lock_exclusively(int fd);

// Exit of a child.
struct linux_ending {
  bool exited;
  int code;
  int signal;
  bool core_dumped;
  int64_t max_resident_kilobytes;
};
// pidfd_open(2).
int linux_pidfd_open(pid_t pid);
// pidfd_send_signal(2).
int linux_pidfd_signal(int pidfd, int signal);
// wait4(2). Returns 1 if the child was reaped, 0 if it is still running (only if `wait` is false), or -1 and
// errno.
int linux_reap(pid_t pid, bool wait, struct linux_ending *ending);

// The arguments of this process as passed to execve(2), starting with the program's name. The count is -1 if
// the C library does not pass them to constructors.
int linux_argument_count(void);
const char *linux_argument(int place);

// Sets the umask of this process. The first call also saves the umask and the limits that the process had before.
// umask(2), getrlimit(2)
enum { LINUX_LIMITS = 16 };
void linux_keep_surroundings(uint32_t own_mask);
// The saved umask; -1 if it was never saved.
int32_t linux_inherited_mask(void);
// Reads the saved limit of `resource`, one of the kernel's RLIMIT_ numbers. UINT64_MAX means no limit. Returns
// false if the limit is unknown.
bool linux_inherited_limit(int resource, uint64_t *soft, uint64_t *hard);
// linux_lend_surroundings sets the umask to the saved value, and lowers the soft limit of open files to the
// saved one, while a child is created. linux_take_back_surroundings then sets this process's values again. Both
// do nothing if no values were saved.
struct linux_lent {
  bool is_lent;
  uint32_t mask;
  // The soft limit of open files of this process; 0 if it was not changed.
  uint64_t files;
};
void linux_lend_surroundings(struct linux_lent *own);
void linux_take_back_surroundings(const struct linux_lent *own);

// posix_spawn(3). sources[i] becomes descriptor i of the child. For -1, descriptors 0, 1 and 2 are inherited,
// and 3 and 4 are closed. Any other source is LINUX_SPAWN_SOURCES or more, so that no dup2(2) overwrites
// another source. Signals are unblocked and set to their default; other descriptors are closed. The child gets
// the saved umask and limit of open files; see linux_lend_surroundings. Returns an errno value, 0 for success.
enum { LINUX_SPAWN_SOURCES = 5 };
int linux_spawn(pid_t *pid, const char *path, char *const arguments[], char *const environment[],
                const int sources[LINUX_SPAWN_SOURCES], bool new_session, const char *working_directory);

// Starts a program under limits, as the leader of its own session (spawn.c). sources[i], each 3 or more,
// becomes descriptor i of the child. Other descriptors except `channel` are closed, and signals are unblocked
// and set to their default. Returns an errno value, 0 for success. After an error `step` is the step that
// failed, and there is no child.
struct linux_limit {
  // One of the kernel's RLIMIT_ numbers.
  int resource;
  uint64_t soft;
  uint64_t hard;
};
enum linux_step { LINUX_STEP_CLONE, LINUX_STEP_SESSION, LINUX_STEP_DESCRIPTORS, LINUX_STEP_DIRECTORY,
                  LINUX_STEP_LIMITS, LINUX_STEP_PROGRAM, LINUX_STEP_GROUP };
struct linux_program {
  const char *path;
  char *const *arguments;
  char *const *environment;
  const char *working_directory;
  int sources[3];
  // Becomes descriptor 3 of the child; -1 for none.
  int channel;
  const struct linux_limit *limits;
  int limit_count;
  // umask of the child; -1 for the umask of this process.
  int mask;
  // True if the kernel kills the child when the thread that started it exits. prctl(2) PR_SET_PDEATHSIG
  bool ends_with_parent;
  // True if orphaned descendants of the child become its children. prctl(2) PR_SET_CHILD_SUBREAPER
  bool is_subreaper;
  // Descriptor of the directory of a cgroup2 control group in which the child starts; -1 for the group of its
  // parent. clone3(2) CLONE_INTO_CGROUP
  int group;
};
int linux_start(const struct linux_program *program, pid_t *pid, int *pidfd, enum linux_step *step);

// Makes orphaned descendants children of this process. prctl(2) PR_SET_CHILD_SUBREAPER
int linux_become_subreaper(void);
// True if this process has a child, including one that has exited and was not reaped. waitid(2)
bool linux_has_children(void);
// faccessat(2) X_OK and W_OK, for the effective user and group.
int linux_may_execute(const char *path);
int linux_may_write(const char *path);

// The process at the other end of a Unix socket when it connected, listened or made the pair. unix(7) SO_PEERCRED
struct linux_peer {
  pid_t pid;
  uid_t uid;
  gid_t gid;
};
// Maximum length of a socket's path in bytes, without its final zero byte.
enum { LINUX_SOCKET_PATH_LIMIT = 107 };
// Stream sockets, and a datagram socket that never blocks. A path that is empty or too long is an error.
int linux_unix_socket(bool nonblocking);
int linux_unix_pair(int pair[2], bool nonblocking);
int linux_unix_datagram_socket(void);
int linux_unix_bind(int fd, const char *path);
int linux_unix_connect(int fd, const char *path);
// accept4(2); the new socket is non-blocking.
int linux_accept(int fd);
// Returns a non-blocking TCP socket that is bound to a port of the loopback address 127.0.0.1. For port 0 the
// kernel chooses a free port.
int linux_loopback_socket(uint16_t port);
// Port to which a socket is bound, or -1 and errno.
int linux_port(int fd);
int linux_peer_credentials(int fd, struct linux_peer *peer);
// send(2) with MSG_NOSIGNAL: if the peer has closed the connection, the error is EPIPE, and there is no
// SIGPIPE.
ssize_t linux_send(int fd, const void *bytes, size_t count);
// Sends one datagram without waiting. An address that starts with @ is abstract (unix(7)).
ssize_t linux_unix_send_to(int fd, const char *address, const void *bytes, size_t count);

// open(2) O_PATH for a directory, and O_NONBLOCK on or off.
int linux_open_directory_path(const char *path);
int linux_set_nonblocking(int fd, bool nonblocking);
// Number of bytes that can be read from a pipe, a socket or a file; 0 for a terminal, and for any descriptor that
// does not support ioctl(2) FIONREAD.
int linux_unread(int fd);
// fcntl(2) F_DUPFD_CLOEXEC: a copy of a descriptor with a number of at least `lowest`.
int linux_duplicate(int fd, int lowest);
int linux_pipe(int pair[2]);
// fcntl(2) F_SETPIPE_SZ: sets the capacity of a pipe to at least this number of bytes.
int linux_set_pipe_size(int fd, int bytes);

// Facts about files, with number types that are the same on every architecture.
struct linux_file_facts {
  uint32_t mode;
  uid_t owner;
  gid_t group;
  int64_t size;
  uint64_t device;
  uint64_t inode;
};
// stat(2), or lstat(2) if `follow` is false, and fstat(2).
int linux_file_facts(const char *path, bool follow, struct linux_file_facts *facts);
int linux_descriptor_facts(int fd, struct linux_file_facts *facts);
bool linux_is_directory(uint32_t mode);
bool linux_is_socket(uint32_t mode);
bool linux_is_regular(uint32_t mode);

// Kernel of the current thread: NULL for Linux, or a simulated one (see Posix/Kernel.swift).
extern _Thread_local void *linux_kernel_of_thread;
static inline void *linux_thread_kernel(void) { return linux_kernel_of_thread; }
static inline void linux_set_thread_kernel(void *kernel) { linux_kernel_of_thread = kernel; }

// Return unmodified file pages and free heap memory to the system; see memory.c. dl_iterate_phdr(3), madvise(2),
// malloc_trim(3)
void linux_unmap_program(void);
void linux_trim_heap(void);

// The environment of this process, and the name (`ENOENT`) and text of an errno value. strerrorname_np(3)
char **linux_environment(void);
const char *linux_error_name(int code);
const char *linux_error_text(int code);
// RLIMIT_NOFILE and RLIMIT_RTTIME. getrlimit(2), setrlimit(2)
int linux_open_file_limit(uint64_t *soft, uint64_t *hard);
int linux_set_open_file_limit(uint64_t soft, uint64_t hard);
int linux_real_time_limit(uint64_t *soft, uint64_t *hard);
int linux_set_real_time_limit(uint64_t soft, uint64_t hard);
// getrandom(2), and ioctl(2) TIOCGWINSZ.
ssize_t linux_random(void *bytes, size_t count);
int linux_terminal_size(int fd, int *columns, int *rows);

#endif
