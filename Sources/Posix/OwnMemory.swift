// Return of memory of a running process to the system; the caller decides when it is useful.
// Invariant: nothing is lost. Pages never written to are read again from their file; of the heap only free
// memory is returned.
import CLinux

/// Memory management of this process.
public enum OwnMemory {
  /// Returns unmodified file pages of the program and its libraries.
  ///
  /// The kernel maps sixteen pages for each one accessed, and pages needed only once, above all at the start,
  /// stay mapped for the life of the process: most of the apparent memory use of an idle process. They stay
  /// in the page cache while there is space, so the next access costs a microsecond and no disk read.
  /// `madvise(2)`, MADV_DONTNEED
  public static func giveBackProgram() { linux_unmap_program() }

  /// Returns free memory of the heap. `malloc_trim(3)`
  public static func giveBackHeap() { linux_trim_heap() }
}
