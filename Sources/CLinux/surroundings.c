// State that this process received from its parent: its arguments, and the umask and limits before this process
// changed its own. Invariant: later changes by this process do not affect the saved values.
// Errors: none. If the C library passes no arguments to constructors, the argument count stays -1.
#define _GNU_SOURCE
#include "CLinux.h"

#include <features.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int argument_count = -1;
static char **argument_values = NULL;

#ifdef __GLIBC__
// The C library calls this function before `main` with the original argument vector of execve(2). The vector
// cannot be found later from the address of the environment, because a library that calls setenv(3) moves the
// environment.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  argument_count = count;
  argument_values = values;
}
#endif

int linux_argument_count(void) { return argument_count; }
const char *linux_argument(int place) { return argument_values[place]; }

static bool has_surroundings = false;
static mode_t file_mask;
static struct rlimit limits[LINUX_LIMITS];
// False for a limit that this kernel does not have.
static bool is_limit_known[LINUX_LIMITS];

void linux_keep_surroundings(uint32_t own_mask) {
  mode_t mask = umask((mode_t)own_mask);
  if (has_surroundings) return;
  file_mask = mask;
  for (int resource = 0; resource < LINUX_LIMITS; resource++)
    is_limit_known[resource] = getrlimit(resource, &limits[resource]) == 0;
  has_surroundings = true;
}

int32_t linux_inherited_mask(void) { return has_surroundings ? (int32_t)file_mask : -1; }

bool linux_inherited_limit(int resource, uint64_t *soft, uint64_t *hard) {
  if (!has_surroundings || resource < 0 || resource >= LINUX_LIMITS || !is_limit_known[resource]) return false;
  *soft = limits[resource].rlim_cur;
  *hard = limits[resource].rlim_max;
  return true;
}

// Of the limits, only the soft limit of open files is restored (see Posix/ProcessStart). Children have to inherit
// the mark (Posix/ProcessMark), which is a limit too.
void linux_lend_surroundings(struct linux_lent *own) {
  own->is_lent = has_surroundings;
  if (!has_surroundings) return;
  own->mask = umask(file_mask);
  struct rlimit present;
  own->files = 0;
  if (!is_limit_known[RLIMIT_NOFILE] || getrlimit(RLIMIT_NOFILE, &present) == -1) return;
  if (limits[RLIMIT_NOFILE].rlim_cur >= present.rlim_cur) return;
  own->files = present.rlim_cur;
  present.rlim_cur = limits[RLIMIT_NOFILE].rlim_cur;
  if (setrlimit(RLIMIT_NOFILE, &present) == -1) own->files = 0;
}

void linux_take_back_surroundings(const struct linux_lent *own) {
  if (!own->is_lent) return;
  (void)umask((mode_t)own->mask);
  struct rlimit present;
  if (own->files == 0 || getrlimit(RLIMIT_NOFILE, &present) == -1) return;
  present.rlim_cur = own->files;
  (void)setrlimit(RLIMIT_NOFILE, &present);
}
