// Start of a program under resource limits, and a few related calls.
// posix_spawn(3) has no attribute for limits, and the workarounds are worse. A parent that sets the limits on
// itself temporarily may fail in its own allocations (RLIMIT_AS), may get a signal for its own processor time
// (RLIMIT_CPU), and without privileges can never raise a hard limit again. A parent that calls prlimit(2) sets
// the limits only after the program has started. A helper program that sets the limits and then executes the
// real program needs a second exec. This file therefore does what the C library's posix_spawn does, and sets
// limits: the child is a clone that shares the parent's memory, and the parent waits until the child has called
// exec or exited. posix_spawn returns the same error for a missing directory and a missing program;
// `linux_start` also returns which step has failed.
// Invariant: between clone and exec the child runs only C code that takes no lock and allocates no memory, on a
// separate stack. Signals are blocked until the child has set those that are not at their default (`disposed` in
// signals.c) to their default; the child unblocks them directly before exec.
// Errors of `linux_start`: an errno value and the step; the child is reaped.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_SIZE = 64 * 1024 };

// Memory shared by parent and child while the parent waits.
struct shared {
  const struct linux_program *program;
  pid_t parent;
  enum linux_step step;
  int error;
};

// One stack is kept between two starts, because a new one would have to be mapped. If two threads start programs
// at the same time, the second thread maps another stack.
static char *spare_stack = NULL;

// Returns the kept stack or a new one; NULL if there is no memory.
static char *take_stack(void) {
  char *stack = __atomic_exchange_n(&spare_stack, NULL, __ATOMIC_ACQUIRE);
  if (stack != NULL) return stack;
  void *made = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

// Keeps a stack for the next start, or unmaps it if another one is kept already.
static void keep_stack(char *stack) {
  char *none = NULL;
  if (!__atomic_compare_exchange_n(&spare_stack, &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    munmap(stack, STACK_SIZE);
}

static int limit(const struct linux_limit *wanted) {
  struct rlimit limit;
  if (getrlimit(wanted->resource, &limit) == -1) return -1;
  // A hard limit is never raised, so the administrator's limit stays the maximum.
  if (wanted->hard < limit.rlim_max) limit.rlim_max = wanted->hard;
  limit.rlim_cur = wanted->soft < limit.rlim_max ? wanted->soft : limit.rlim_max;
  return setrlimit(wanted->resource, &limit);
}

// Performs in the child the steps before exec.
static int prepare(struct shared *shared) {
  const struct linux_program *program = shared->program;
  shared->step = LINUX_STEP_SESSION;
  if (setsid() == -1) return -1;
  if (program->ends_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1) return -1;
    // If the parent exited before the prctl(2) call, the kernel never sends the signal of PR_SET_PDEATHSIG.
    if (getppid() != shared->parent) _exit(127);
  }
  // The subreaper attribute is preserved across exec.
  if (program->is_subreaper && prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == -1) return -1;
  shared->step = LINUX_STEP_DESCRIPTORS;
  for (int target = 0; target < 3; target++) {
    if (dup2(program->sources[target], target) == -1) return -1;
  }
  if (program->channel != -1 && dup2(program->channel, 3) == -1) return -1;
  closefrom(program->channel == -1 ? 3 : 4);
  shared->step = LINUX_STEP_DIRECTORY;
  if (program->working_directory != NULL && chdir(program->working_directory) == -1) return -1;
  if (program->mask >= 0) (void)umask((mode_t)program->mask);
  // The limits are set last, so that no earlier step fails because of them.
  shared->step = LINUX_STEP_LIMITS;
  for (int i = 0; i < program->limit_count; i++) {
    if (limit(&program->limits[i]) == -1) return -1;
  }
  shared->step = LINUX_STEP_PROGRAM;
  return 0;
}

// Code of the child: resets signals, performs the steps, and executes the program. Never returns.
static int child(void *context) {
  struct shared *shared = context;
  const struct linux_program *program = shared->program;
  // The parent has blocked all signals except the two that the C library reserves. Handlers are removed before
  // the signals are unblocked, because a handler of the parent would run in the parent's memory. This is a
  // direct system call, because the C library refuses to change its two reserved signals, and leaves them
  // ignored in children of its posix_spawn. `nothing`, all zeros, means SIG_DFL and an empty mask on every
  // architecture. Signals known to be at their default are skipped to save system calls.
  static const long nothing[8] = {0};
  for (int number = 1; number <= LINUX_SIGNALS; number++) {
    if (linux_signal_may_be_disposed(number))
      (void)syscall(SYS_rt_sigaction, number, nothing, NULL, (size_t)LINUX_SIGNALS / 8);
  }
  if (prepare(shared) == 0) {
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing, NULL, (size_t)LINUX_SIGNALS / 8);
    (void)execve(program->path, program->arguments, program->environment);
  }
  shared->error = errno;
  _exit(127);
}

// Creates a child that starts in another control group. The C library's clone() has no parameter for a group,
// and the C library has no function for clone3(2). The child returns from the system call on its own, empty
// stack, where compiled code of this function could not run. The few instructions up to the call of `child` are
// therefore assembly. Moving the child to the group after its start would be slower.
static pid_t clone_into(int group, char *stack, struct shared *shared, int *pidfd) {
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_INTO_CGROUP,
      .pidfd = (uintptr_t)pidfd,
      .exit_signal = SIGCHLD,
      .stack = (uintptr_t)stack,
      .stack_size = STACK_SIZE,
      .cgroup = (unsigned)group,
  };
#if defined(__x86_64__)
  long result;
  register int (*begin)(void *) __asm__("r8") = child;
  register struct shared *context __asm__("r9") = shared;
  __asm__ volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r9, %%rdi\n\t"
      "callq *%%r8\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"((long)SYS_clone3), "D"(&arguments), "S"(sizeof arguments), "r"(begin), "r"(context)
      : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
  register long result __asm__("x0") = (long)&arguments;
  register size_t size __asm__("x1") = sizeof arguments;
  register int (*begin)(void *) __asm__("x2") = child;
  register struct shared *context __asm__("x3") = shared;
  register long number __asm__("x8") = SYS_clone3;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x3\n\t"
      "blr x2\n\t"
      "brk #1\n"
      "1:"
      : "+r"(result)
      : "r"(size), "r"(begin), "r"(context), "r"(number)
      : "memory", "cc");
#else
  long result = -ENOSYS;
  (void)arguments;
#endif
  if (result >= 0) return (pid_t)result;
  errno = (int)-result;
  return -1;
}

// True if a later call may succeed: processes, memory or descriptors have run out.
static bool is_shortage(int code) { return code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE; }

int linux_start(const struct linux_program *program, pid_t *pid, int *pidfd, enum linux_step *step) {
  *step = LINUX_STEP_CLONE;
  char *stack = take_stack();
  if (stack == NULL) return errno;
  sigset_t all, before;
  sigfillset(&all);
  int code = pthread_sigmask(SIG_BLOCK, &all, &before);
  if (code != 0) {
    keep_stack(stack);
    return code;
  }
  struct shared shared = {.program = program, .parent = getpid()};
  // CLONE_VFORK: the parent continues after the child's exec or exit.
  pid_t made = program->group == -1
                   ? clone(child, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &shared, pidfd)
                   : clone_into(program->group, stack, &shared, pidfd);
  code = made == -1 ? errno : shared.error;
  // With a group, any error except a shortage is reported as that of the group.
  if (made == -1 && program->group != -1 && !is_shortage(code)) *step = LINUX_STEP_GROUP;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  keep_stack(stack);
  if (code != 0 && made != -1) {
    *step = shared.step;
    close(*pidfd);
    while (waitpid(made, NULL, 0) == -1 && errno == EINTR) continue;
  }
  *pid = made;
  return code;
}

int linux_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL); }

bool linux_has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int linux_set_pipe_size(int fd, int bytes) { return fcntl(fd, F_SETPIPE_SZ, bytes); }

int linux_may_execute(const char *path) { return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS); }

int linux_may_write(const char *path) { return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS); }
