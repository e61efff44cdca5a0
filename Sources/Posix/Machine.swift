// Owns what this machine is called. It remembers nothing: a name that was changed is told from then on.
// Failure: a kernel that does not tell gets a name all the same.

import Glibc

/// The machine on which this process runs.
public enum Machine {
  /// Its name in the network, as `uname -n` tells it. Source: uname(2).
  public static var name: String {
    var facts = utsname()
    guard uname(&facts) == 0 else { return "localhost" }
    return withUnsafeBytes(of: &facts.nodename) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
