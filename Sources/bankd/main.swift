// Entry point of `bankd`: passes the arguments to the coordinator, and exits with its code. If this build
// supports PostgreSQL, it also passes the opener of shared databases.

import Coordinator
import Glibc
import Posix

#if HAS_POSTGRES
  import PostgresBackend

  private let shared: (any SharedStoreOpener)? = PostgresStoreOpener()
#else
  private let shared: (any SharedStoreOpener)? = nil
#endif

exit(CoordinatorProcess.run(arguments: Array(CurrentProcess.arguments.dropFirst()), shared: shared))
