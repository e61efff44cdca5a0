// Return of memory to the kernel while the process runs. The caller decides when to call it.
// Invariant: no data is lost. File pages that were never modified are read from their file again. Of the heap
// only free memory is returned.
import CLinux

/// Memory management of this process.
public enum SelfMemory {
  /// Returns unmodified file pages of the program and its libraries to the kernel.
  ///
  /// The kernel maps up to sixteen pages for each one accessed, and pages that were needed only once, mostly at the
  /// start, stay mapped while memory is available. They count as memory use of the process. After this call they
  /// stay in the page cache as long as memory is available, so the next access needs no disk read. `madvise(2)`,
  /// MADV_DONTNEED
  public static func releaseFilePages() { linux_unmap_program() }

  /// Returns free memory of the heap to the kernel. `malloc_trim(3)`
  public static func trimHeap() { linux_trim_heap() }
}
