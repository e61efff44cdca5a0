// JSON of a log line: one object on one line (RFC 8259).
// Invariant: the output is valid UTF-8 without a line feed, and each key appears once.
// Errors: none. A line that is not logfmt becomes the value of `line`.

extension LogLine {
  /// Keys of fields with whole numbers, in addition to the keys with a unit.
  private static let numbers: Set<String> = [
    "pid", "gen", "day", "ticket", "attempt", "attempts", "signal", "code", "child", "child_gen", "peer_pid",
    "count", "incarnation", "windows", "waiting", "serving", "served", "finished", "killed", "customers",
    "deaths", "items", "changes", "request", "products", "unfinished",
  ]
  /// Suffixes of keys whose values are whole numbers of a unit.
  private static let units = ["_ms", "_kb"]

  /// Returns the value of a field as a number, or nil if the value is not a number in canonical notation.
  private static func number(_ field: Field) -> Int64? {
    guard numbers.contains(field.key) || units.contains(where: field.key.hasSuffix),
      let number = Int64(field.value), "\(number)" == field.value
    else { return nil }
    return number
  }

  /// Appends the JSON of a record, without a line feed.
  static func appendJSON(of record: LogRecord, to output: inout [UInt8]) {
    if let line = LogLine.parse(record.line) {
      line.appendJSON(worker: record.worker, to: &output)
    } else {
      let text = String(decoding: record.line, as: UTF8.self)
      LogLine(fields: [Field(key: "line", value: text)]).appendJSON(worker: record.worker, to: &output)
    }
  }

  /// Appends one JSON object with the fields in order. If a key is repeated, only its first field is included.
  ///
  /// - Parameter worker: value of the field `worker`, for a line without this field.
  private func appendJSON(worker: String, to output: inout [UInt8]) {
    var told = Set<String>()
    let known = self["worker"] == nil ? [Field(key: "worker", value: worker)] : []
    output.append(UInt8(ascii: "{"))
    for field in known + fields where told.insert(field.key).inserted {
      if told.count > 1 { output.append(UInt8(ascii: ",")) }
      Self.appendJSON(string: field.key, to: &output)
      output.append(UInt8(ascii: ":"))
      if let number = Self.number(field) {
        output += "\(number)".utf8
      } else {
        Self.appendJSON(string: field.value, to: &output)
      }
    }
    output.append(UInt8(ascii: "}"))
  }

  /// Appends a JSON string in quotes.
  private static func appendJSON(string: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      if byte < 0x80 { LogValue.appendASCII(byte, to: &output) } else { output.append(byte) }
    }
    output.append(UInt8(ascii: "\""))
  }
}
