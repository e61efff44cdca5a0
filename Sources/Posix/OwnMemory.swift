// Owns what a process gives back of its memory while it goes on. It knows no policy: when it is worth it is the caller's to know.
// Invariant: nothing is lost. What was never written is read again from its file; of the heap only what is free is given back.
import CLinux

/// The memory of this process.
public enum OwnMemory {
  /// Gives back the pages of the program and of its libraries that came from their files as they are.
  ///
  /// The kernel maps sixteen pages for each that is touched, and whatever was needed once, above all to start, stays mapped for
  /// as long as the process lives: most of what a process seems to need that does nothing. They stay in the page cache
  /// while there is room, so the next touch costs a microsecond and no reading. `madvise(2)`, MADV_DONTNEED
  public static func giveBackProgram() { linux_unmap_program() }

  /// Gives back what is free of the heap. `malloc_trim(3)`
  public static func giveBackHeap() { linux_trim_heap() }
}
