// Entry points that libFuzzer calls with its inputs. `scripts/fuzz` compiles this file with the sources of the codec,
// the frames and the lines into one module, so nothing else of the project is needed. It uses no message type of the
// project, because the fuzzed code has to be safe for every type.
// Invariant: no input may trap, run long or use much memory; accepted input must survive a round trip. A violation is a
// trap, which libFuzzer reports with its input.

/// A value of any shape within the profile.
indirect enum FuzzValue: Codable, Equatable {
  case integer(Int128)
  case byteString([UInt8])
  case text(String)
  case array([FuzzValue])
  case map([FuzzField])
  case bool(Bool)
  case null

  struct FuzzField: Equatable {
    let number: Int
    let value: FuzzValue
  }

  struct FieldKey: CodingKey {
    let number: Int
    init(number: Int) { self.number = number }
    init?(intValue: Int) { number = intValue }
    init?(stringValue: String) { nil }
    var intValue: Int? { number }
    var stringValue: String { String(number) }
  }

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? single.decode(Int128.self) {
      self = .integer(value)
    } else if let value = try? single.decode(String.self) {
      self = .text(value)
    } else if let value = try? single.decode([UInt8].self) {
      self = .byteString(value)
    } else if var list = try? decoder.unkeyedContainer() {
      var values: [FuzzValue] = []
      while !list.isAtEnd { values.append(try list.decode(FuzzValue.self)) }
      self = .array(values)
    } else {
      let map = try decoder.container(keyedBy: FieldKey.self)
      self = .map(
        try map.allKeys.map {
          FuzzField(number: $0.number, value: try map.decode(FuzzValue.self, forKey: $0))
        })
    }
  }

  func encode(to encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    switch self {
    case .integer(let value): try single.encode(value)
    case .byteString(let value): try single.encode(value)
    case .text(let value): try single.encode(value)
    case .array(let values): try single.encode(values)
    case .bool(let value): try single.encode(value)
    case .null: try single.encodeNil()
    case .map(let fields):
      var map = encoder.container(keyedBy: FieldKey.self)
      for field in fields { try map.encode(field.value, forKey: FieldKey(number: field.number)) }
    }
  }
}

/// A record with fields of many types, some of them optional, like a message.
struct FuzzRecord: Codable, Equatable {
  enum Choice: Codable, Equatable {
    case number(Int32)
    case records([FuzzRecord])

    enum CodingKeys: Int, CodingKey {
      case number = 0
      case records = 1
    }

    enum NumberCodingKeys: Int, CodingKey { case _0 = 0 }

    enum RecordsCodingKeys: Int, CodingKey { case _0 = 0 }
  }

  var small: UInt8?
  var wide: UInt64?
  var signed: Int16?
  var text: String?
  var blob: [UInt8]?
  var flags: [Bool?]?
  var choice: Choice?

  enum CodingKeys: Int, CodingKey {
    case small = 0
    case wide = 1
    case signed = 2
    case text = 3
    case blob = 15
    case flags = 16
    case choice = 255
  }
}

/// Decodes the input and, if that succeeds, encodes and decodes it again.
private func checkRoundTrip<T: Codable & Equatable>(_ type: T.Type, _ input: ArraySlice<UInt8>) -> [UInt8]? {
  guard let value = try? CBORDecoder().decode(type, from: input) else { return nil }
  guard let encoded = try? CBOREncoder().encode(value) else { preconditionFailure("decoded but not encoded") }
  precondition((try? CBORDecoder().decode(type, from: encoded)) == value, "decoded as another value")
  precondition(encoded.count <= input.count, "the input was not in its shortest form")
  return encoded
}

private func fuzzValue(_ input: ArraySlice<UInt8>) {
  if let encoded = checkRoundTrip(FuzzValue.self, input) {
    precondition(encoded.count == input.count, "one value with two encodings")
  }
  _ = checkRoundTrip(FuzzRecord.self, input)
  _ = checkRoundTrip([FuzzRecord].self, input)
}

/// Splits the input into portions, and compares the result with that of one portion.
private func fuzzFrames(_ input: [UInt8]) {
  guard let portion = input.first.map({ Int($0) + 1 }) else { return }
  let stream = input.dropFirst()
  let limit = 1024
  var (whole, pieces) = (FrameDecoder(maximumBodyLength: limit), FrameDecoder(maximumBodyLength: limit))
  whole.append(stream)
  var expected: [ArraySlice<UInt8>] = []
  while let body = try? whole.next() { expected.append(body) }
  var received = 0
  var rest = stream
  while !rest.isEmpty {
    pieces.append(rest.prefix(portion))
    rest = rest.dropFirst(portion)
    while let body = try? pieces.next() {
      precondition((1...limit).contains(body.count), "a body beyond the limit")
      precondition(body == expected[received], "another split gave another body")
      received += 1
      fuzzValue(body)
    }
  }
  precondition(received == expected.count, "another split gave another number of bodies")
  precondition(pieces.bufferedByteCount == whole.bufferedByteCount, "another split left other bytes")
}

/// Like `fuzzFrames`, for lines. Each line is parsed as an object with one key and skipped values.
private func fuzzLines(_ input: [UInt8]) {
  guard let portion = input.first.map({ Int($0) + 1 }) else { return }
  let stream = input.dropFirst()
  let limit = 1024
  var (whole, pieces) = (LineDecoder(maximumLength: limit), LineDecoder(maximumLength: limit))
  whole.append(stream)
  var expected: [ArraySlice<UInt8>] = []
  while let line = try? whole.next() { expected.append(line) }
  var received = 0
  var rest = stream
  while !rest.isEmpty {
    pieces.append(rest.prefix(portion))
    rest = rest.dropFirst(portion)
    while let line = try? pieces.next() {
      precondition((1...limit).contains(line.count), "a line beyond the limit")
      precondition(line == expected[received], "another split gave another line")
      received += 1
      fuzzLine(Array(line))
    }
  }
  precondition(received == expected.count, "another split gave another number of lines")
  precondition(pieces.bufferedByteCount == whole.bufferedByteCount, "another split left other bytes")
}

private func fuzzLine(_ line: [UInt8]) {
  line.withUnsafeBufferPointer { bytes in
    do throws(LineParseError) {
      var reader = try LineReader(bytes)
      let kind = try reader.kind()
      var members = try reader.open(kind)
      while let word = try reader.next(&members) {
        switch word {
        case .ticket: _ = try reader.integer(word, 1...Int64.max)
        case .attempt: _ = try reader.integer(word, 1...Int32.max)
        case .percent:
          let percent = try reader.percent(word)
          precondition(percent <= 100, "more than 100 percent")
        case .retry: _ = try reader.flag(word)
        case .reason:
          let text = try reader.string(word)
          precondition(
            reader.text(text, first: 9).utf8.count <= 9 && reader.text(text, last: 9).utf8.count <= 9)
        case .resultB64:
          let text = try reader.string(word)
          let content = try reader.base64(word, text)
          var again: [UInt8] = []
          Base64.append(content, to: &again)
          precondition(reader.withBytes(of: text) { $0.elementsEqual(again) }, "one content with two texts")
        case .text:
          let text = try reader.string(word)
          var again: [UInt8] = []
          reader.withBytes(of: text) { again.append(quoted: $0) }
          again.withUnsafeBufferPointer { written in
            guard var second = try? LineReader(written), let copy = try? second.string() else {
              preconditionFailure("written but not read")
            }
            precondition(second.text(copy) == reader.text(text), "read as another text")
          }
        default: try reader.skipValue()
        }
      }
      try reader.end()
    } catch { precondition((0...line.count).contains(error.byte), "a fault at a byte beyond the line") }
  }
}

/// libFuzzer's entry point (LLVM, "libFuzzer: a library for coverage-guided fuzz testing").
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  #if FUZZ_FRAMES
    fuzzFrames(input)
  #elseif FUZZ_LINES
    fuzzLines(input)
  #else
    fuzzValue(input[...])
  #endif
  return 0
}
