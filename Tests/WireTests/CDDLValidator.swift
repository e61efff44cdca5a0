// Validator of a value against a rule of a schema in CDDL, which reports the matched places of the schema.
// Invariant: a field that the rule does not list is a mismatch, because the schema describes what is sent and
// not what is skipped. If several groups or options are possible and none fits, the mismatch is the one that
// is deepest in the value.

/// The place where a value does not match the rule, and the reason.
struct CDDLMismatch: Error, Equatable, CustomStringConvertible {
  /// Field numbers and places in arrays, from the outside.
  let path: [Int]
  let words: String
  var description: String { "at \(path.map { "\($0)" }.joined(separator: ".")): \(words)" }
}

/// The match of a value with a schema.
struct CDDLTrace {
  /// The matched rules, fields and options.
  var used: Set<String> = []
  /// The optional fields that it leaves out.
  var absent: Set<String> = []
  /// The groups of each of its maps.
  var maps: [[Int]: CDDLMapTrace] = [:]

  fileprivate mutating func add(_ other: CDDLTrace) {
    used.formUnion(other.used)
    absent.formUnion(other.absent)
    maps.merge(other.maps) { $1 }
  }
}

/// The match of one map.
struct CDDLMapTrace {
  /// The group that fits.
  let group: CDDLGroup
  /// The numbers of all fields of all groups.
  let numbers: Set<Int>
}

struct CDDLValidator {
  let schema: CDDLSchema

  init(_ schema: CDDLSchema) { self.schema = schema }

  /// The match of a value with a rule.
  func check(_ value: AnyValue, by rule: String) throws(CDDLMismatch) -> CDDLTrace {
    var trace = CDDLTrace()
    try check(value, .rule(rule), [], &trace)
    return trace
  }

  private func check(
    _ value: AnyValue, _ type: CDDLType, _ path: [Int], _ trace: inout CDDLTrace
  ) throws(CDDLMismatch) {
    let fits: Bool
    switch (type, value) {
    case (.rule(let name), _):
      guard let rule = schema.rules[name] else {
        throw CDDLMismatch(path: path, words: "there is no rule \(name)")
      }
      trace.used.insert(name)
      return try check(value, rule, path, &trace)
    case (.choice(let options), _): return try check(value, anyOf: options, path, &trace)
    case (.map(let groups), .map(let fields)): return try check(fields, anyOf: groups, path, &trace)
    case (.array(let element, let counts), .array(let values)):
      for (place, value) in values.enumerated() { try check(value, element, path + [place], &trace) }
      fits = counts.contains(values.count)
    case (.integer(let range), .unsigned(let number)): fits = range.contains(Int128(number))
    case (.integer(let range), .negative(let number)): fits = range.contains(Int128(number))
    case (.text(let sizes), .text(let text)): fits = sizes.contains(text.utf8.count)
    case (.word(let word), .text(let text)): fits = Array(word.utf8) == Array(text.utf8)
    case (.bool(let wanted), .bool(let flag)): fits = wanted == nil || wanted == flag
    case (.bytes, .byteString), (.null, .null): fits = true
    default: fits = false
    }
    guard fits else { throw CDDLMismatch(path: path, words: "\(value) is not \(type)") }
  }

  private func check(
    _ value: AnyValue, anyOf options: [CDDLOption], _ path: [Int], _ trace: inout CDDLTrace
  ) throws(CDDLMismatch) {
    var deepest = CDDLMismatch(path: path, words: "\(value) is none of \(options.count) options")
    for option in options {
      var attempt = CDDLTrace()
      do throws(CDDLMismatch) {
        try check(value, option.type, path, &attempt)
        trace.add(attempt)
        trace.used.insert(option.place)
        return
      } catch { if error.path.count > deepest.path.count { deepest = error } }
    }
    throw deepest
  }

  private func check(
    _ fields: [AnyValue.Field], anyOf groups: [CDDLGroup], _ path: [Int], _ trace: inout CDDLTrace
  ) throws(CDDLMismatch) {
    // The first field of each of several groups is its kind, which decides.
    let kinds = groups.filter { group in fields.contains { $0.number == group.fields.first?.number } }
    let candidates = groups.count == 1 ? groups : kinds
    guard candidates.count == 1 else {
      throw CDDLMismatch(path: path, words: "exactly one kind is required, and there are \(candidates.count)")
    }
    let group = candidates[0]
    let strangers = Set(fields.map(\.number)).subtracting(group.fields.map(\.number))
    guard strangers.isEmpty else {
      throw CDDLMismatch(path: path, words: "fields \(strangers.sorted()) are unknown")
    }
    trace.maps[path] = CDDLMapTrace(group: group, numbers: Set(groups.flatMap(\.fields).map(\.number)))
    for field in group.fields {
      if let present = fields.first(where: { $0.number == field.number }) {
        try check(present.value, field.type, path + [field.number], &trace)
        trace.used.insert(field.place)
      } else if field.isOptional {
        trace.absent.insert(field.place)
      } else {
        throw CDDLMismatch(path: path, words: "field \(field.number) is missing")
      }
    }
  }
}
