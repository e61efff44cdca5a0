// The RFC's examples, run through the codec. Invariant: an accepted example encodes to the very same bytes; a
// refused one has its own reason and place.

import Testing

@testable import Wire

@Suite("Examples of RFC 8949, appendix A")
struct RFC8949VectorTests {
  @Test(
    "each example is accepted and written back exactly, or refused for its own reason",
    arguments: RFC8949Vector.all)
  func example(_ vector: RFC8949Vector) throws {
    let input = try #require(bytes(vector.hex))
    switch vector.outcome {
    case .taken(let value):
      #expect(try CBORDecoder().decode(AnyValue.self, from: input) == value)
      #expect(try hex(CBOREncoder().encode(value)) == vector.hex)
    case .refused(let reason, let offset):
      #expect(throws: CBORDecodingError(reason, at: offset)) {
        try CBORDecoder().decode(AnyValue.self, from: input)
      }
    }
  }

  @Test("all 81 examples are here, each once")
  func completeness() {
    #expect(RFC8949Vector.all.count == 81)
    #expect(Set(RFC8949Vector.all.map(\.hex)).count == RFC8949Vector.all.count)
  }
}
