// Implementation of the calls declared in CLinux.h that no other file of this directory implements.
// Invariant: descriptors created in this file are closed on exec. Errors: -1 and errno, or an errno value if the
// header says so.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(LINUX_READABLE == EPOLLIN, "EPOLLIN");
_Static_assert(LINUX_WRITABLE == EPOLLOUT, "EPOLLOUT");
_Static_assert(LINUX_ERROR == EPOLLERR, "EPOLLERR");
_Static_assert(LINUX_HANG_UP == EPOLLHUP, "EPOLLHUP");
_Static_assert(LINUX_PEER_CLOSED == EPOLLRDHUP, "EPOLLRDHUP");
_Static_assert(LINUX_SOCKET_PATH_LIMIT + 1 == sizeof(((struct sockaddr_un *)0)->sun_path), "sun_path");

// MARK: epoll

int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int epoll_change(int epoll, int operation, int fd, uint32_t interest, uint64_t token) {
  struct epoll_event event = {.events = interest, .data.u64 = token};
  return epoll_ctl(epoll, operation, fd, &event);
}

int linux_epoll_add(int epoll, int fd, uint32_t interest, uint64_t token) {
  return epoll_change(epoll, EPOLL_CTL_ADD, fd, interest, token);
}

int linux_epoll_modify(int epoll, int fd, uint32_t interest, uint64_t token) {
  return epoll_change(epoll, EPOLL_CTL_MOD, fd, interest, token);
}

int linux_epoll_delete(int epoll, int fd) { return epoll_change(epoll, EPOLL_CTL_DEL, fd, 0, 0); }

// Waits with epoll_wait(2), which measures its timeout in milliseconds.
static int wait_in_milliseconds(int epoll, struct epoll_event *events, int64_t timeout_ns) {
  int milliseconds = -1;
  if (timeout_ns >= 0) {
    // The timeout is rounded up, because a caller that wakes before its deadline would spin until the deadline.
    int64_t rounded = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
    milliseconds = rounded > INT_MAX ? INT_MAX : (int)rounded;
  }
  return epoll_wait(epoll, events, LINUX_EVENT_BATCH, milliseconds);
}

// Waits with the most precise call that the kernel has.
static int wait_for_events(int epoll, struct epoll_event *events, int64_t timeout_ns) {
  // For timeouts of 0 and -1, epoll_wait has the same effect and is faster.
  if (timeout_ns <= 0) return epoll_wait(epoll, events, LINUX_EVENT_BATCH, timeout_ns < 0 ? -1 : 0);
#ifdef SYS_epoll_pwait2
  static bool missing = false;
  if (!__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    long count = syscall(SYS_epoll_pwait2, epoll, events, LINUX_EVENT_BATCH, timeout_ns < 0 ? NULL : &timeout,
                         NULL, (size_t)0);
    // Kernels before 5.11 return ENOSYS; a seccomp filter that does not include the call may return EPERM.
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return (int)count;
    __atomic_store_n(&missing, true, __ATOMIC_RELAXED);
  }
#endif
  return wait_in_milliseconds(epoll, events, timeout_ns);
}

int linux_epoll_wait(int epoll, struct linux_event *events, int64_t timeout_ns) {
  struct epoll_event batch[LINUX_EVENT_BATCH];
  int count = wait_for_events(epoll, batch, timeout_ns);
  for (int i = 0; i < count; i++) {
    events[i].token = batch[i].data.u64;
    events[i].ready = batch[i].events;
  }
  return count;
}

// MARK: processes

int linux_set_parent_death_signal(int number) {
  return prctl(PR_SET_PDEATHSIG, (unsigned long)number, 0, 0, 0);
}

int linux_set_name(const char *name) { return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0); }

int linux_lock_exclusively(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_OFD_SETLK, &lock);
}

int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int linux_pidfd_signal(int pidfd, int number) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0U);
}

int linux_reap(pid_t pid, bool wait, struct linux_ending *ending) {
  int status = 0;
  struct rusage usage;
  pid_t reaped = wait4(pid, &status, wait ? 0 : WNOHANG, &usage);
  if (reaped <= 0) return (int)reaped;
  ending->exited = WIFEXITED(status);
  ending->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  ending->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending->core_dumped = WIFSIGNALED(status) && WCOREDUMP(status);
  ending->max_resident_kilobytes = usage.ru_maxrss;
  return 1;
}

// Fills in which descriptors and which working directory the child gets. Returns an errno value.
static int describe_descriptors(posix_spawn_file_actions_t *actions, const int sources[LINUX_SPAWN_SOURCES],
                                const char *working_directory) {
  int code = 0;
  int beyond = 3;
  for (int target = 0; target < LINUX_SPAWN_SOURCES && code == 0; target++) {
    if (sources[target] < 0) continue;
    code = posix_spawn_file_actions_adddup2(actions, sources[target], target);
    if (target >= beyond) beyond = target + 1;
  }
  // Descriptor 3 of the parent may have no close-on-exec flag.
  if (code == 0 && sources[3] < 0 && beyond > 3) code = posix_spawn_file_actions_addclose(actions, 3);
  if (code == 0 && working_directory != NULL)
    code = posix_spawn_file_actions_addchdir_np(actions, working_directory);
  if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(actions, beyond);
  return code;
}

// Fills in that no signal is blocked and all are at their default. Returns an errno value.
static int describe_signals(posix_spawnattr_t *attributes, bool new_session) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (new_session) flags |= POSIX_SPAWN_SETSID;
  int code = posix_spawnattr_setsigmask(attributes, &none);
  if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
  if (code == 0) code = posix_spawnattr_setflags(attributes, flags);
  return code;
}

int linux_spawn(pid_t *pid, const char *path, char *const arguments[], char *const environment[],
                const int sources[LINUX_SPAWN_SOURCES], bool new_session, const char *working_directory) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int code = posix_spawn_file_actions_init(&actions);
  if (code != 0) return code;
  code = posix_spawnattr_init(&attributes);
  if (code == 0) {
    code = describe_descriptors(&actions, sources, working_directory);
    if (code == 0) code = describe_signals(&attributes, new_session);
    if (code == 0) {
      // posix_spawn(3) has no attributes for the umask and limits, so this process changes its own while it
      // creates the child. The processes of the bank that start others have one thread, and the call returns
      // after the child's exec, so no file is created or opened with the child's values.
      struct linux_lent own;
      linux_lend_surroundings(&own);
      code = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
      linux_take_back_surroundings(&own);
    }
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

// MARK: sockets

// Type of a stream socket that is closed on exec.
static int stream_type(bool nonblocking) {
  return SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0);
}

int linux_unix_socket(bool nonblocking) { return socket(AF_UNIX, stream_type(nonblocking), 0); }

int linux_unix_pair(int pair[2], bool nonblocking) {
  return socketpair(AF_UNIX, stream_type(nonblocking), 0, pair);
}

int linux_unix_datagram_socket(void) {
  return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Makes the address of a path; -1 and errno if the path is empty or too long.
static int fill_address(struct sockaddr_un *address, const char *path) {
  size_t length = strlen(path);
  if (length == 0 || length > LINUX_SOCKET_PATH_LIMIT) {
    errno = length == 0 ? ENOENT : ENAMETOOLONG;
    return -1;
  }
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, length);
  return 0;
}

int linux_unix_bind(int fd, const char *path) {
  struct sockaddr_un address;
  if (fill_address(&address, path) == -1) return -1;
  return bind(fd, (const struct sockaddr *)&address, sizeof address);
}

int linux_unix_connect(int fd, const char *path) {
  struct sockaddr_un address;
  if (fill_address(&address, path) == -1) return -1;
  return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

int linux_loopback_socket(uint16_t port) {
  int fd = socket(AF_INET, stream_type(true), 0);
  if (fd == -1) return -1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int yes = 1;
  // The connections of a killed process may still be in the state TIME_WAIT, and must not prevent its successor
  // from binding the port.
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
    return fd;
  int code = errno;
  close(fd);
  errno = code;
  return -1;
}

int linux_port(int fd) {
  struct sockaddr_in address = {0};
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) == -1) return -1;
  return ntohs(address.sin_port);
}

int linux_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int linux_peer_credentials(int fd, struct linux_peer *peer) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == -1) return -1;
  peer->pid = credentials.pid;
  peer->uid = credentials.uid;
  peer->gid = credentials.gid;
  return 0;
}

ssize_t linux_send(int fd, const void *bytes, size_t count) { return send(fd, bytes, count, MSG_NOSIGNAL); }

ssize_t linux_unix_send_to(int fd, const char *address, const void *bytes, size_t count) {
  struct sockaddr_un to;
  if (fill_address(&to, address) == -1) return -1;
  socklen_t length = sizeof to;
  if (address[0] == '@') {
    // An abstract name starts with a zero byte, and the length of the address determines its end (unix(7)).
    to.sun_path[0] = '\0';
    length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address));
  }
  return sendto(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&to, length);
}

// MARK: descriptors and files

int linux_open_directory_path(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }
int linux_duplicate(int fd, int lowest) { return fcntl(fd, F_DUPFD_CLOEXEC, lowest); }
int linux_pipe(int pair[2]) { return pipe2(pair, O_CLOEXEC); }

int linux_set_nonblocking(int fd, bool nonblocking) {
  // FIONBIO sets O_NONBLOCK with one system call, whereas fcntl(2) needs two (F_GETFL and F_SETFL).
  int wanted = nonblocking;
  return ioctl(fd, FIONBIO, &wanted);
}

int linux_unread(int fd) {
  int count = 0;
  if (isatty(fd) || ioctl(fd, FIONREAD, &count) == -1) return 0;
  return count;
}

static void copy_facts(const struct stat *from, struct linux_file_facts *to) {
  to->mode = from->st_mode;
  to->owner = from->st_uid;
  to->group = from->st_gid;
  to->size = from->st_size;
  to->device = from->st_dev;
  to->inode = from->st_ino;
}

int linux_file_facts(const char *path, bool follow, struct linux_file_facts *facts) {
  struct stat status;
  if ((follow ? stat(path, &status) : lstat(path, &status)) == -1) return -1;
  copy_facts(&status, facts);
  return 0;
}

int linux_descriptor_facts(int fd, struct linux_file_facts *facts) {
  struct stat status;
  if (fstat(fd, &status) == -1) return -1;
  copy_facts(&status, facts);
  return 0;
}

bool linux_is_directory(uint32_t mode) { return S_ISDIR(mode); }
bool linux_is_socket(uint32_t mode) { return S_ISSOCK(mode); }
bool linux_is_regular(uint32_t mode) { return S_ISREG(mode); }

// MARK: other calls

char **linux_environment(void) { return environ; }
const char *linux_error_name(int code) { return strerrorname_np(code); }
const char *linux_error_text(int code) { return strerrordesc_np(code); }

int linux_open_file_limit(uint64_t *soft, uint64_t *hard) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == -1) return -1;
  *soft = limit.rlim_cur;
  *hard = limit.rlim_max;
  return 0;
}

int linux_set_open_file_limit(uint64_t soft, uint64_t hard) {
  struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  return setrlimit(RLIMIT_NOFILE, &limit);
}

int linux_real_time_limit(uint64_t *soft, uint64_t *hard) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTTIME, &limit) == -1) return -1;
  *soft = limit.rlim_cur;
  *hard = limit.rlim_max;
  return 0;
}

int linux_set_real_time_limit(uint64_t soft, uint64_t hard) {
  struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
  return setrlimit(RLIMIT_RTTIME, &limit);
}

ssize_t linux_random(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

_Thread_local void *linux_kernel_of_thread;

int linux_terminal_size(int fd, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) == -1) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}
