// Proof of identity of a branch: its home and the boot of its machine.
// Invariant: only the holder of a home's lock uses its proof, so an earlier branch with the same proof has exited.

import Posix

enum BranchIdentityProof {
  private static let boot = "/proc/sys/kernel/random/boot_id"

  /// Proof of a home whose lock this process holds. Without /proc the name of the machine replaces its boot
  /// id.
  static func text(of home: BankHome) -> String {
    let bytes = try? FileDescriptor.open(boot, [.readOnly]).readAll(limit: 64)
    let machine = bytes.map { String(decoding: $0.prefix { $0 > 32 }, as: UTF8.self) } ?? LocalHost.name
    let facts = (try? FileMetadata.inspect(home.path)) ?? nil
    return "\(machine) \(facts?.device ?? 0) \(facts?.inode ?? 0)"
  }
}
