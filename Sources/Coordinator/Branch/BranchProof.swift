// Owns the proof of which home on which running machine a branch is. Two homes never have the same proof at the same time: not a
// copy on the same machine, and not one on a copied machine, which was started by itself.
// Invariant: only the holder of a home's lock speaks with its proof, so a former branch with the same proof has ended.

import Posix

enum BranchProof {
  private static let boot = "/proc/sys/kernel/random/boot_id"

  /// The proof of a home whose lock this process has; without /proc the name of the machine stands for its boot.
  static func text(of home: BankHome) -> String {
    let bytes = try? FileDescriptor.open(boot, [.readOnly]).readAll(limit: 64)
    let machine = bytes.map { String(decoding: $0.prefix { $0 > 32 }, as: UTF8.self) } ?? Machine.name
    let facts = (try? FileFacts.inspect(home.path)) ?? nil
    return "\(machine) \(facts?.device ?? 0) \(facts?.inode ?? 0)"
  }
}
