// Return of memory to the kernel while the process runs.
// Invariant: no data is lost. Unmodified file pages are read from their file again. Of the heap only free memory is
// returned.
import CLinux

/// Memory management of this process.
public enum SelfMemory {
  /// Returns unmodified file pages of the program and its libraries to the kernel.
  ///
  /// Pages that were needed only once stay mapped, and count as memory use of the process. After this call they stay in
  /// the page cache as long as memory is available. `madvise(2)`, MADV_DONTNEED
  public static func releaseFilePages() { linux_unmap_program() }

  /// Returns free memory of the heap to the kernel. `malloc_trim(3)`
  public static func trimHeap() { linux_trim_heap() }
}
