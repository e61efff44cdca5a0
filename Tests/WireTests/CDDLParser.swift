// Grammar of the part of CDDL (RFC 8610) in which the bank's protocol is written: rules for types; maps with
// field numbers, optional fields and several groups; arrays of one type; choices, ranges, numbers, texts and
// their sizes; and the names that CDDL itself gives to simple types. All other constructs of the language
// (rules for groups, generic rules, tags, other keys, other controls) are a CDDLError.

struct CDDLParser {
  private var scanner: CDDLScanner
  private var token: CDDLToken
  private var places: [String: CDDLType] = [:]

  init(_ text: String) throws(CDDLError) {
    scanner = CDDLScanner(text)
    token = try scanner.next()
  }

  /// All rules, the name of the first one, and every place in them.
  mutating func schema() throws(CDDLError) -> ([String: CDDLType], root: String, [String: CDDLType]) {
    var rules: [String: CDDLType] = [:]
    var root: String?
    while token != .end {
      guard case .name(let name) = token else { throw unexpected("the name of a rule") }
      guard rules[name] == nil, Self.simple[name] == nil else {
        throw scanner.error("\(name) is defined already")
      }
      try advance()
      try expect("=")
      rules[name] = try type(at: name)
      places[name] = rules[name]
      root = root ?? name
    }
    guard let root else { throw CDDLError(line: 0, words: "there is no rule") }
    return (rules, root, places)
  }

  private static let numbers: (unsigned: ClosedRange<Int128>, negative: ClosedRange<Int128>) = (
    0...Int128(UInt64.max), -Int128(UInt64.max) - 1 ... -1
  )

  private static let simple: [String: CDDLType] = [
    "uint": .integer(numbers.unsigned), "nint": .integer(numbers.negative),
    "int": .integer(numbers.negative.lowerBound...numbers.unsigned.upperBound),
    "tstr": .text(0...Int.max), "bstr": .bytes, "bool": .bool(nil), "true": .bool(true),
    "false": .bool(false),
    "nil": .null, "null": .null,
  ]

  private mutating func type(at place: String) throws(CDDLError) -> CDDLType {
    let first = try bounded(at: place)
    guard token == .sign("/") else { return first }
    var types = [first]
    while try take("/") { types.append(try bounded(at: "\(place)/\(types.count + 1)")) }
    return .choice(
      types.enumerated().map { offset, type in
        let option = CDDLOption(type: type, place: "\(place)/\(offset + 1)")
        places[option.place] = type
        return option
      })
  }

  /// A type with its bounds: `1..3`, `tstr .size (1..3)`, `nint .ge -3`.
  private mutating func bounded(at place: String) throws(CDDLError) -> CDDLType {
    if case .number = token { return .integer(try range()) }
    let type = try single(at: place)
    guard case .control(let control) = token else { return type }
    try advance()
    switch type {
    case .text(let sizes) where control == "size" && sizes == 0...Int.max:
      try expect("(")
      let sizes = try range()
      try expect(")")
      guard let least = Int(exactly: sizes.lowerBound), let most = Int(exactly: sizes.upperBound), least >= 0
      else {
        throw scanner.error("a text has no such size")
      }
      return .text(least...most)
    case .integer(let range) where control == "ge" && range == Self.numbers.negative:
      let least = try number()
      guard Self.numbers.negative.contains(least) else { throw scanner.error("\(least) is not negative") }
      return .integer(least...Self.numbers.negative.upperBound)
    default: throw scanner.error(".\(control) is not supported here")
    }
  }

  private mutating func range() throws(CDDLError) -> ClosedRange<Int128> {
    let first = try number()
    guard try take("..") else { return first...first }
    let last = try number()
    guard first < last else { throw scanner.error("\(first)..\(last) is empty, or one number") }
    return first...last
  }

  private mutating func single(at place: String) throws(CDDLError) -> CDDLType {
    switch token {
    case .name(let name):
      try advance()
      return Self.simple[name] ?? .rule(name)
    case .text(let word):
      try advance()
      return .word(word)
    case .sign("{"): return try map(at: place)
    case .sign("["): return try array(at: place)
    default: throw unexpected("a type")
    }
  }

  /// One element with its occurrence: `[* item]`, `[0*32 item]`.
  private mutating func array(at place: String) throws(CDDLError) -> CDDLType {
    try expect("[")
    var counts = 1...1
    if try take("?") {
      counts = 0...1
    } else if try take("+") {
      counts = 1...Int.max
    } else if case .number(let least) = token {
      try advance()
      try expect("*")
      let (least, most) = (try count(least), try most())
      guard least <= most else { throw scanner.error("\(least)*\(most) is not a number of elements") }
      counts = least...most
    } else if try take("*") {
      counts = 0...(try most())
    }
    let element = try type(at: place + "[]")
    _ = try take(",")
    guard try take("]") else { throw unexpected("the end of an array, which has elements of one type") }
    return .array(element, counts)
  }

  private mutating func most() throws(CDDLError) -> Int {
    guard case .number(let most) = token else { return Int.max }
    try advance()
    return try count(most)
  }

  private func count(_ number: Int128) throws(CDDLError) -> Int {
    guard let count = Int(exactly: number), count >= 0 else {
      throw scanner.error("there are never \(number) elements")
    }
    return count
  }

  private mutating func map(at place: String) throws(CDDLError) -> CDDLType {
    try expect("{")
    var groups = [CDDLGroup()]
    while try !take("}") {
      if try take("//") {
        groups.append(CDDLGroup())
      } else {
        let last = groups.count - 1
        groups[last].fields.append(
          try field(at: place, beside: last > 0 ? groups[last].fields.first?.number : nil))
        _ = try take(",")
      }
    }
    guard groups.count == 1 || groups.allSatisfy({ $0.fields.first?.isOptional == false }) else {
      throw scanner.error("each group of several starts with a field that distinguishes it")
    }
    return .map(groups)
  }

  private mutating func field(at place: String, beside kind: Int?) throws(CDDLError) -> CDDLField {
    let isOptional = try take("?")
    let key = try number()
    guard let number = Int(exactly: key), (0...255).contains(number) else {
      throw scanner.error("\(key) is not a field number")
    }
    try expect(":")
    let name = kind.map { "\(place).\($0),\(number)" } ?? "\(place).\(number)"
    guard places[name] == nil else { throw scanner.error("field \(number) is twice in \(place)") }
    let field = CDDLField(number: number, isOptional: isOptional, type: try type(at: name), place: name)
    places[name] = field.type
    return field
  }

  private mutating func number() throws(CDDLError) -> Int128 {
    guard case .number(let number) = token else { throw unexpected("a number") }
    try advance()
    return number
  }

  private mutating func advance() throws(CDDLError) { token = try scanner.next() }

  private mutating func take(_ sign: String) throws(CDDLError) -> Bool {
    guard token == .sign(sign) else { return false }
    try advance()
    return true
  }

  private mutating func expect(_ sign: String) throws(CDDLError) {
    guard try take(sign) else { throw unexpected(sign) }
  }

  private func unexpected(_ wanted: String) -> CDDLError {
    scanner.error("found \(token), expected \(wanted)")
  }
}
