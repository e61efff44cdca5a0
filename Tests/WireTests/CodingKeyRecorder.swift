// Recorder of the coding keys of each map in an encoded value: an encoder that stores only the keys that each
// keyed container could write, whether they were written or not, so that fields without a sample are found.
// Invariant: the paths are those of the fields' numbers and the places in arrays.

/// The field numbers that each map of a value could have, by its path.
func codingKeys(of value: any Encodable) throws -> [[Int]: Set<Int>] {
  let record = CodingKeyRecord()
  try value.encode(to: CodingKeyRecorder(record: record, path: []))
  return record.keys
}

private final class CodingKeyRecord {
  var keys: [[Int]: Set<Int>] = [:]
}

private struct CodingKeyRecorder: Encoder {
  let record: CodingKeyRecord
  let path: [Int]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    record.keys[path] = Set((0...255).filter { Key(intValue: $0) != nil })
    return KeyedEncodingContainer(KeyedRecorder<Key>(recorder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedRecorder(recorder: self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { SingleRecorder(recorder: self) }

  func inside(_ step: Int) -> CodingKeyRecorder { CodingKeyRecorder(record: record, path: path + [step]) }

  /// Numbers, texts and flags have no keys.
  func record(_ value: any Encodable) throws {
    if value is any BinaryInteger || value is String || value is Bool { return }
    try value.encode(to: self)
  }
}

private struct KeyedRecorder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let recorder: CodingKeyRecorder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {}
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try recorder.inside(key.intValue ?? -1).record(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    recorder.inside(key.intValue ?? -1).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    recorder.inside(key.intValue ?? -1).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { preconditionFailure("no message has a super class") }
  func superEncoder(forKey key: Key) -> any Encoder { preconditionFailure("no message has a super class") }
}

private struct UnkeyedRecorder: UnkeyedEncodingContainer {
  let recorder: CodingKeyRecorder
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(recorder: CodingKeyRecorder) { self.recorder = recorder }

  private mutating func next() -> CodingKeyRecorder {
    count += 1
    return recorder.inside(count - 1)
  }

  mutating func encodeNil() { _ = next() }
  mutating func encode<T: Encodable>(_ value: T) throws { try next().record(value) }
  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<
    Nested
  > {
    next().container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
  func superEncoder() -> any Encoder { preconditionFailure("no message has a super class") }
}

private struct SingleRecorder: SingleValueEncodingContainer {
  let recorder: CodingKeyRecorder
  var codingPath: [any CodingKey] { [] }

  func encodeNil() {}
  func encode<T: Encodable>(_ value: T) throws { try recorder.record(value) }
}
