// Signal dispositions of this process: which signals it reads through a descriptor, blocks, ignores, and leaves
// at their default.
// After the first scan, dispositions should change only through this file, so that a signal that is not in
// `disposed` is at its default. A child of `linux_start` keeps any other handler until exec, such as that of the
// coordinator for SIGBUS (Coordinator/MemoryMappedFile). Errors: -1 and errno.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fill(sigset_t *set, const int *signals, int count) {
  sigemptyset(set);
  for (int i = 0; i < count; i++) sigaddset(set, signals[i]);
}

int linux_signal_descriptor(const int *signals, int count) {
  sigset_t set;
  sigemptyset(&set);
  // The descriptor would also deliver a signal that is both blocked and ignored. A parent that has set a signal
  // to be ignored, such as nohup(1), does not want this process to react to the signal.
  for (int i = 0; i < count; i++) {
    if (!linux_signal_is_ignored(signals[i])) sigaddset(&set, signals[i]);
  }
  int code = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (code != 0) {
    errno = code;
    return -1;
  }
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int linux_signal_read(int fd, struct linux_signal *signal) {
  struct signalfd_siginfo info;
  ssize_t count = read(fd, &info, sizeof info);
  if (count == -1) return errno == EAGAIN ? 0 : -1;
  if (count != sizeof info) {
    errno = EIO;
    return -1;
  }
  signal->number = (int32_t)info.ssi_signo;
  signal->sender_pid = (int32_t)info.ssi_pid;
  signal->sender_uid = info.ssi_uid;
  signal->code = info.ssi_code;
  return 1;
}

int linux_signals_unblock(const int *signals, int count) {
  sigset_t set;
  fill(&set, signals, count);
  int code = pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  if (code == 0) return 0;
  errno = code;
  return -1;
}

// Set of signals that are possibly not at their default: all signals until the first scan.
static uint64_t disposed = ~(uint64_t)0;

bool linux_signal_may_be_disposed(int number) {
  return __atomic_load_n(&disposed, __ATOMIC_RELAXED) & (uint64_t)1 << (number - 1);
}

// Records in `disposed` which signals are not at their default.
static void look_at_dispositions(void) {
  uint64_t found = 0;
  // This is a direct system call, because the C library does not report its two reserved signals. The result
  // starts with the handler, and SIG_DFL is 0.
  for (int number = 1; number <= LINUX_SIGNALS; number++) {
    long action[8] = {0};
    if (syscall(SYS_rt_sigaction, number, NULL, action, (size_t)LINUX_SIGNALS / 8) != 0 || action[0] != 0)
      found |= (uint64_t)1 << (number - 1);
  }
  __atomic_store_n(&disposed, found, __ATOMIC_RELAXED);
}

// Sets the disposition of a signal, and adds the signal to `disposed`.
static int dispose(int number, void (*handler)(int)) {
  if (number >= 1 && number <= LINUX_SIGNALS)
    __atomic_fetch_or(&disposed, (uint64_t)1 << (number - 1), __ATOMIC_RELAXED);
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL);
}

int linux_signals_ignore(int number) { return dispose(number, SIG_IGN); }
int linux_signals_default(int number) { return dispose(number, SIG_DFL); }

static int block_none(void) {
  sigset_t none;
  sigemptyset(&none);
  int code = pthread_sigmask(SIG_SETMASK, &none, NULL);
  if (code == 0) return 0;
  errno = code;
  return -1;
}

int linux_signals_reset(void) {
  // sigaction(2) fails for SIGKILL and SIGSTOP, which are at their default, and for signals that the C library
  // reserves.
  for (int number = 1; number <= SIGRTMAX; number++) (void)dispose(number, SIG_DFL);
  return block_none();
}

bool linux_signal_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

int linux_signals_heed(const int *kept, int count) {
  sigset_t left_alone;
  fill(&left_alone, kept, count);
  // Existing handlers stay, because they belong to the runtime of the language or to a sanitizer.
  for (int number = 1; number <= SIGRTMAX; number++) {
    if (linux_signal_is_ignored(number) && !sigismember(&left_alone, number)) (void)dispose(number, SIG_DFL);
  }
  look_at_dispositions();
  return block_none();
}

const char *linux_signal_abbreviation(int number) { return sigabbrev_np(number); }
int linux_realtime_signal_minimum(void) { return SIGRTMIN; }
int linux_realtime_signal_maximum(void) { return SIGRTMAX; }
