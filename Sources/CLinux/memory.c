// Returns unmodified file pages and free heap memory of this process to the system. File pages that may have been
// written are not returned: those of a segment that is writable, or that was written while the program was loaded.
// Invariant: at the next access the kernel maps a returned page from its file again, with the same content.
// Errors: none; a page that cannot be returned stays in memory.
#define _GNU_SOURCE
#include "CLinux.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void linux_trim_heap(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// True if relocations have changed the code of an object (DT_TEXTREL). Its pages must not be returned.
static bool has_changed_code(const struct dl_phdr_info *object) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + part->p_vaddr); entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
    }
  }
  return false;
}

// Returns the pages of the read-only segments of one object to the system.
static int give_back(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const uintptr_t page = *(const uintptr_t *)context;
  // The vDSO, which the kernel maps, has no file.
  if (object->dlpi_name != NULL && strncmp(object->dlpi_name, "linux-", 6) == 0) return 0;
  if (has_changed_code(object)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0) continue;
    // The first and the last page of a segment may also belong to another segment, so only whole pages are
    // returned.
    const uintptr_t begin = (object->dlpi_addr + part->p_vaddr + page - 1) & ~(page - 1);
    const uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(page - 1);
    if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  return 0;
}

void linux_unmap_program(void) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  dl_iterate_phdr(give_back, &page);
}
