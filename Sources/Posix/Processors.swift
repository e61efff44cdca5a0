// Number of processors, without regard to the limit of a control group. It is 1 if the kernel does not return
// the number.

import Glibc

/// Properties of this machine's processors.
public enum Processors {
  /// Number of online processors, at least 1. `sysconf(3)`
  public static let available = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
}
