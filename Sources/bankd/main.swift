// Owns nothing: hands the command line to the coordinator, with what opens a store with an address where this build has
// it, and its exit code to the system.
// It must not hold any logic.

import Coordinator
import Glibc
import Posix

#if HAS_POSTGRES
  import SharedBranch

  private let shared: (any SharedBooksOpener)? = SharedBranch()
#else
  private let shared: (any SharedBooksOpener)? = nil
#endif

exit(CoordinatorProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst()), shared: shared))
