// Owns how many processors there are. It does not know who may use them: a limit of a control group is not looked at.
// Failure: a kernel that does not say has one.

import Glibc

/// The processors of this machine.
public enum Processors {
  /// How many are at work, at least 1. `sysconf(3)`
  public static let available = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
}
