// A disk that stalls on demand, for processes under test: fsync and fdatasync of the C library, and the step of SQLite
// that finds a row, first wait until the test releases them. The step and not the read, because a page that was read
// once is in memory. FIFOs in the directory SLOW_DISK select the calls that wait (fifo(7)):
//
//   NAME.sync  the next sync of the process NAME; the FIFO is renamed to NAME.syncing when that sync starts, and
//              removed when it ends
//   NAME.row   every row of the process NAME, as long as the FIFO exists
//
// A waiting call continues when a byte can be read from the FIFO, or no process has it open for writing any more.
// Invariant: the kernel reports a waiting process as one in an uninterruptible wait for a disk (proc(5), state D), and
// the process reacts to SIGKILL only.
// Failure: if a FIFO cannot be opened, the call does not wait.
#define _GNU_SOURCE
#include "SlowDisk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// The path of the FIFO for this process; 0 if the test has not asked for a slow disk.
static int path_of(char *path, const char *kind) {
  const char *directory = getenv("SLOW_DISK");
  if (directory == NULL) return 0;
  int length = snprintf(path, PATH_MAX, "%s/%s.%s", directory, program_invocation_short_name, kind);
  return length > 0 && length < PATH_MAX;
}

// Waits like a process that waits for a disk: the parent of a vfork(2) sleeps uninterruptibly until its child exits.
static void wait_for_disk(const char *fifo) {
  pid_t child = vfork();
  if (child == 0) {
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int file = open(fifo, O_RDONLY | O_CLOEXEC);
    if (file >= 0) while (read(file, &byte, 1) < 0 && errno == EINTR) {}
    _exit(0);
  }
  int status;
  if (child > 0) while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
}

static void before_sync(void) {
  char wanted[PATH_MAX], begun[PATH_MAX];
  if (!path_of(wanted, "sync") || !path_of(begun, "syncing")) return;
  if (rename(wanted, begun) < 0) return;
  wait_for_disk(begun);
  unlink(begun);
}

static void before_row(void) {
  char wanted[PATH_MAX];
  if (path_of(wanted, "row") && access(wanted, F_OK) == 0) wait_for_disk(wanted);
}

int fsync(int file) {
  static int (*next)(int);
  if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  before_sync();
  return next(file);
}

int fdatasync(int file) {
  static int (*next)(int);
  if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  before_sync();
  return next(file);
}

// See sqlite3_step in SQLite's reference.
int sqlite3_step(void *statement) {
  static int (*next)(void *);
  if (next == NULL) next = (int (*)(void *))dlsym(RTLD_NEXT, "sqlite3_step");
  before_row();
  return next(statement);
}
