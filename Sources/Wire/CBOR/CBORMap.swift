// Index of one map, from field numbers to the offsets of their values. Invariant: the map is scanned once, by the
// initializer. Low numbers are found without a search. A duplicate or an invalid key throws an error.

/// The fields of one map, by field number.
struct CBORMap {
  let input: CBORInput
  let offset: Int
  /// Offsets of the values of fields 0 to 15, four in each vector. 0 marks a missing field, because no value
  /// starts at offset 0.
  private var low: (SIMD4<UInt32>, SIMD4<UInt32>, SIMD4<UInt32>, SIMD4<UInt32>) = (.zero, .zero, .zero, .zero)
  private var high: [(number: UInt8, offset: UInt32)] = []

  /// Scans the map that starts at an offset.
  init(_ input: CBORInput, at offset: Int) throws(CBORDecodingError) {
    self.input = input
    self.offset = offset
    let (count, begin) = try input.container(CBORMajor.map, at: offset)
    var position = begin
    for _ in 0..<count {
      let key = try input.fieldNumber(at: position)
      guard valueOffset(Int(key.number)) == nil else {
        throw CBORDecodingError(.duplicateField(Int(key.number)), at: position)
      }
      insert(key.number, at: UInt32(truncatingIfNeeded: key.end))
      position = try input.end(of: key.end)
    }
  }

  /// Offset of a field's value; nil if the map does not have the field.
  @inline(__always) func valueOffset(_ number: Int) -> Int? {
    let place = number & 3
    let found: UInt32
    switch number {
    case 0...3: found = low.0[place]
    case 4...7: found = low.1[place]
    case 8...11: found = low.2[place]
    case 12...15: found = low.3[place]
    default: return highOffset(number)
    }
    return found == 0 ? nil : Int(found)
  }

  /// Field numbers of the map in ascending order.
  var fieldNumbers: [Int] {
    var numbers: [Int] = []
    for number in 0..<16 where valueOffset(number) != nil { numbers.append(number) }
    if !high.isEmpty { numbers += high.map { Int($0.number) }.sorted() }
    return numbers
  }

  /// Offset of the value of a field from 16; nil if the map does not have it.
  private func highOffset(_ number: Int) -> Int? {
    for field in high where Int(field.number) == number { return Int(field.offset) }
    return nil
  }

  @inline(__always) private mutating func insert(_ number: UInt8, at offset: UInt32) {
    let place = Int(number & 3)
    switch number {
    case 0...3: low.0[place] = offset
    case 4...7: low.1[place] = offset
    case 8...11: low.2[place] = offset
    case 12...15: low.3[place] = offset
    default: high.append((number, offset))
    }
  }
}
