// The examples of RFC 8949, appendix A, with the result of this profile for each. Invariant: every row of the
// appendix is here once, in its order. A row is either accepted, with its value, or refused, with the reason
// and the offset.

import Testing

@testable import Wire

struct RFC8949Vector: CustomTestStringConvertible, Sendable {
  enum Outcome: Sendable {
    case taken(AnyValue)
    case refused(CBORDecodingError.Reason, at: Int)
  }

  let diagnostic: String
  let hex: String
  let outcome: Outcome

  var testDescription: String { diagnostic }

  private static func taken(_ diagnostic: String, _ hex: String, _ value: AnyValue) -> RFC8949Vector {
    RFC8949Vector(diagnostic: diagnostic, hex: hex, outcome: .taken(value))
  }

  private static func refused(
    _ diagnostic: String, _ hex: String, _ reason: CBORDecodingError.Reason, at offset: Int = 0
  ) -> RFC8949Vector {
    RFC8949Vector(diagnostic: diagnostic, hex: hex, outcome: .refused(reason, at: offset))
  }

  static let all: [RFC8949Vector] = integers + floats + simpleAndTags + strings + containers + indefinite

  private static let integers: [RFC8949Vector] = [
    taken("0", "00", .unsigned(0)),
    taken("1", "01", .unsigned(1)),
    taken("10", "0a", .unsigned(10)),
    taken("23", "17", .unsigned(23)),
    taken("24", "1818", .unsigned(24)),
    taken("25", "1819", .unsigned(25)),
    taken("100", "1864", .unsigned(100)),
    taken("1000", "1903e8", .unsigned(1000)),
    taken("1000000", "1a000f4240", .unsigned(1_000_000)),
    taken("1000000000000", "1b000000e8d4a51000", .unsigned(1_000_000_000_000)),
    taken("18446744073709551615", "1bffffffffffffffff", .unsigned(.max)),
    refused("18446744073709551616", "c249010000000000000000", .bignum),
    refused("-18446744073709551616", "3bffffffffffffffff", .integerOutOfRange),
    refused("-18446744073709551617", "c349010000000000000000", .bignum),
    taken("-1", "20", .negative(-1)),
    taken("-10", "29", .negative(-10)),
    taken("-100", "3863", .negative(-100)),
    taken("-1000", "3903e7", .negative(-1000)),
  ]

  private static let floats: [RFC8949Vector] = [
    refused("0.0", "f90000", .floatingPoint),
    refused("-0.0", "f98000", .floatingPoint),
    refused("1.0", "f93c00", .floatingPoint),
    refused("1.1", "fb3ff199999999999a", .floatingPoint),
    refused("1.5", "f93e00", .floatingPoint),
    refused("65504.0", "f97bff", .floatingPoint),
    refused("100000.0", "fa47c35000", .floatingPoint),
    refused("3.4028234663852886e+38", "fa7f7fffff", .floatingPoint),
    refused("1.0e+300", "fb7e37e43c8800759c", .floatingPoint),
    refused("5.960464477539063e-8", "f90001", .floatingPoint),
    refused("0.00006103515625", "f90400", .floatingPoint),
    refused("-4.0", "f9c400", .floatingPoint),
    refused("-4.1", "fbc010666666666666", .floatingPoint),
    refused("Infinity, half", "f97c00", .floatingPoint),
    refused("NaN, half", "f97e00", .floatingPoint),
    refused("-Infinity, half", "f9fc00", .floatingPoint),
    refused("Infinity, single", "fa7f800000", .floatingPoint),
    refused("NaN, single", "fa7fc00000", .floatingPoint),
    refused("-Infinity, single", "faff800000", .floatingPoint),
    refused("Infinity, double", "fb7ff0000000000000", .floatingPoint),
    refused("NaN, double", "fb7ff8000000000000", .floatingPoint),
    refused("-Infinity, double", "fbfff0000000000000", .floatingPoint),
  ]

  private static let simpleAndTags: [RFC8949Vector] = [
    taken("false", "f4", .bool(false)),
    taken("true", "f5", .bool(true)),
    taken("null", "f6", .null),
    refused("undefined", "f7", .undefined),
    refused("simple(16)", "f0", .simpleValue(16)),
    refused("simple(255)", "f8ff", .simpleValue(255)),
    refused("0(\"2013-03-21T20:04:00Z\")", "c074323031332d30332d32315432303a30343a30305a", .tag(0)),
    refused("1(1363896240)", "c11a514b67b0", .tag(1)),
    refused("1(1363896240.5)", "c1fb41d452d9ec200000", .tag(1)),
    refused("23(h'01020304')", "d74401020304", .tag(23)),
    refused("24(h'6449455446')", "d818456449455446", .tag(24)),
    refused(
      "32(\"http://www.example.com\")", "d82076687474703a2f2f7777772e6578616d706c652e636f6d", .tag(32)),
  ]

  private static let strings: [RFC8949Vector] = [
    taken("h''", "40", .byteString([])),
    taken("h'01020304'", "4401020304", .byteString([1, 2, 3, 4])),
    taken("\"\"", "60", .text("")),
    taken("\"a\"", "6161", .text("a")),
    taken("\"IETF\"", "6449455446", .text("IETF")),
    taken("\"\\\"\\\\\"", "62225c", .text("\"\\")),
    taken("\"\\u00fc\"", "62c3bc", .text("ü")),
    taken("\"\\u6c34\"", "63e6b0b4", .text("水")),
    taken("\"\\ud800\\udd51\"", "64f0908591", .text("\u{10151}")),
  ]

  private static let containers: [RFC8949Vector] = [
    taken("[]", "80", .array([])),
    taken("[1, 2, 3]", "83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    taken(
      "[1, [2, 3], [4, 5]]", "8301820203820405",
      .array([
        .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
      ])),
    taken(
      "[1, 2, … 25]", "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      .array((1...25).map { .unsigned($0) })),
    taken("{}", "a0", .map([])),
    taken(
      "{1: 2, 3: 4}", "a201020304",
      .map([.init(number: 1, value: .unsigned(2)), .init(number: 3, value: .unsigned(4))])),
    refused("{\"a\": 1, \"b\": [2, 3]}", "a26161016162820203", .keyNotAFieldNumber, at: 1),
    refused("[\"a\", {\"b\": \"c\"}]", "826161a161626163", .keyNotAFieldNumber, at: 4),
    refused(
      "{\"a\": \"A\", … \"e\": \"E\"}", "a56161614161626142616361436164614461656145", .keyNotAFieldNumber,
      at: 1),
  ]

  private static let indefinite: [RFC8949Vector] = [
    refused("(_ h'0102', h'030405')", "5f42010243030405ff", .indefiniteLength),
    refused("(_ \"strea\", \"ming\")", "7f657374726561646d696e67ff", .indefiniteLength),
    refused("[_ ]", "9fff", .indefiniteLength),
    refused("[_ 1, [2, 3], [_ 4, 5]]", "9f018202039f0405ffff", .indefiniteLength),
    refused("[_ 1, [2, 3], [4, 5]]", "9f01820203820405ff", .indefiniteLength),
    refused("[1, [2, 3], [_ 4, 5]]", "83018202039f0405ff", .indefiniteLength, at: 5),
    refused("[1, [_ 2, 3], [4, 5]]", "83019f0203ff820405", .indefiniteLength, at: 2),
    refused(
      "[_ 1, 2, … 25]", "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", .indefiniteLength),
    refused("{_ \"a\": 1, \"b\": [_ 2, 3]}", "bf61610161629f0203ffff", .indefiniteLength),
    refused("[\"a\", {_ \"b\": \"c\"}]", "826161bf61626163ff", .indefiniteLength, at: 3),
    refused("{_ \"Fun\": true, \"Amt\": -2}", "bf6346756ef563416d7421ff", .indefiniteLength),
  ]
}
