// Number of processors, without regard to a control group's limit; 1 if the kernel does not return it.

import Glibc

public enum Processors {
  /// Number of online processors, at least 1. `sysconf(3)`
  public static let available = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
}
