// One file of a simulated volume in two states: as processes see it, and as it would be after a power loss now.
// Invariant: bytes are durable after a successful sync, except those that a kernel has marked as clean after a failed
// one. A power loss keeps none of the later changes, all, a prefix, or any set of written sectors, as the seed decides.
// Each sector has its old bytes or its new ones, and no byte outside the writes changes.
import BankModel

/// The bytes of one file, as processes see them and as they are durable.
final class VolumeFile {
  /// A change of the file that was not synced yet.
  enum Change {
    case write([UInt8], at: Int)
    case resize(Int)
  }

  /// The bytes that processes read, those that a power loss leaves, and the changes between the two.
  private(set) var seen: [UInt8] = []
  private var durable: [UInt8] = []
  private var unsynced: [Change] = []
  /// The lock of each connection that has one. See `sqlite3_io_methods.xLock`.
  var locks: [ObjectIdentifier: Int32] = [:]
  var size: Int { seen.count }
  /// True if every byte that processes read is durable.
  var isSynced: Bool { unsynced.isEmpty && seen == durable }

  /// Reads bytes at an offset, and returns their number; 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = min(buffer.count, max(0, seen.count - offset))
    guard count > 0 else { return 0 }
    seen.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
    }
    return count
  }

  /// True if processes read these bytes at an offset.
  func contains(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    offset + bytes.count <= seen.count && seen[offset..<offset + bytes.count].elementsEqual(bytes)
  }

  /// Writes bytes; a gap before them is filled with zeros.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let copy = [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
      UnsafeMutableRawBufferPointer(room).copyMemory(from: bytes)
      count = bytes.count
    }
    let change = Change.write(copy, at: offset)
    Self.apply(change, to: &seen)
    unsynced.append(change)
  }

  /// Truncates the file, or extends it with zeros.
  func resize(to size: Int) {
    guard size != seen.count else { return }
    Self.apply(.resize(size), to: &seen)
    unsynced.append(.resize(size))
  }

  /// Makes all changes durable.
  func sync() {
    for change in unsynced { Self.apply(change, to: &durable) }
    unsynced.removeAll(keepingCapacity: true)
  }

  /// Makes an unknown part of the changes durable, because a sync has failed. A kernel that forgets marks the rest as
  /// clean, as Linux does. Processes can still read the rest, but no later sync makes it durable.
  func failToSync(sector: Int, forgets: Bool, _ chance: inout SeededGenerator) {
    keepSome(sector, &chance)
    if forgets { unsynced.removeAll() }
  }

  /// Keeps a random part of the changes, and loses the others and all locks.
  func losePower(sector: Int, _ chance: inout SeededGenerator) {
    keepSome(sector, &chance)
    unsynced.removeAll()
    seen = durable
    locks.removeAll()
  }

  /// Makes a random part of the changes durable: none, all, a prefix whose last write may be cut at a sector, or any
  /// set of sectors.
  private func keepSome(_ sector: Int, _ chance: inout SeededGenerator) {
    guard !unsynced.isEmpty else { return }
    switch chance.draw(0...3) {
    case 0: break
    case 1: for change in unsynced { Self.apply(change, to: &durable) }
    case 2:
      let count = Int(chance.draw(0...Int64(unsynced.count)))
      for change in unsynced.prefix(count) { Self.apply(change, to: &durable) }
      guard count < unsynced.count else { return }
      let pieces = Self.pieces(of: unsynced[count], sector)
      for piece in pieces.prefix(Int(chance.draw(0...Int64(pieces.count)))) {
        Self.apply(piece, to: &durable)
      }
    default:
      for change in unsynced {
        for piece in Self.pieces(of: change, sector) where chance.draw(0...1) == 0 {
          Self.apply(piece, to: &durable)
        }
      }
    }
  }

  /// Splits a write at the sectors; another change is one piece.
  private static func pieces(of change: Change, _ sector: Int) -> [Change] {
    guard case .write(let bytes, let offset) = change else { return [change] }
    var pieces: [Change] = []
    var place = 0
    while place < bytes.count {
      let end = min(bytes.count, ((offset + place) / sector + 1) * sector - offset)
      pieces.append(.write(Array(bytes[place..<end]), at: offset + place))
      place = end
    }
    return pieces
  }

  private static func apply(_ change: Change, to image: inout [UInt8]) {
    switch change {
    case .resize(let size) where size <= image.count: image.removeLast(image.count - size)
    case .resize(let size): image += [UInt8](repeating: 0, count: size - image.count)
    case .write(let bytes, let offset):
      let missing = offset + bytes.count - image.count
      if missing > 0 { image += [UInt8](repeating: 0, count: missing) }
      image.withUnsafeMutableBytes { target in
        bytes.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0)
        }
      }
    }
  }
}
