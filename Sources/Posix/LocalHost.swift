// Name of this machine, read from the kernel for each call.
// The name is `localhost` if the kernel returns an error.

import Glibc

/// Properties of this machine.
public enum LocalHost {
  /// Network name, as `uname -n` prints it. Source: uname(2).
  public static var name: String {
    var facts = utsname()
    guard uname(&facts) == 0 else { return "localhost" }
    return withUnsafeBytes(of: &facts.nodename) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
