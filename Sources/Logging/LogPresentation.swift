// Display of a log line: unchanged, for a terminal, or as JSON.
// Invariant: one record becomes one line. In the format `terminal`, marks of direction, and control characters except
// tabs, are escaped.
// Errors: none, also for a line that is not logfmt.

/// Format of displayed lines.
public enum LogPresentation: Sendable, Hashable {
  /// The bytes of the line, unchanged.
  case plain
  /// Control characters become visible escapes. A coloured line has the colour of its level.
  case terminal(coloured: Bool)
  /// One JSON object with the fields in order. If a key is repeated, only its first field is included.
  case json

  /// Appends a line in this format, with its line feed.
  public func append(_ record: LogRecord, to output: inout [UInt8]) {
    switch self {
    case .plain: output += record.line
    case .terminal(coloured: false): Self.appendVisible(record.line, to: &output)
    case .terminal(coloured: true): Self.appendColoured(record.line, to: &output)
    case .json: LogLine.appendJSON(of: record, to: &output)
    }
    output.append(0x0a)
  }

  /// Returns untrusted text, such as a file name, with its control characters as visible escapes.
  public static func visible(_ text: String) -> String {
    var output: [UInt8] = []
    appendVisible(Array(text.utf8), to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  private static func appendColoured(_ line: [UInt8], to output: inout [UInt8]) {
    guard let colour = LogLine.parse(line)?.level.flatMap(colour) else {
      return appendVisible(line, to: &output)
    }
    output += "\u{1b}[\(colour)m".utf8
    appendVisible(line, to: &output)
    output += "\u{1b}[0m".utf8
  }

  /// SGR parameter of a level (ECMA-48). Regular events have no colour, so that problems are easy to see.
  private static func colour(_ level: LogLevel) -> Int? {
    switch level {
    case .debug: 2
    case .info: nil
    case .warn: 33
    case .error: 31
    }
  }

  /// Appends a line with its control characters and misleading characters as escapes.
  private static func appendVisible(_ line: [UInt8], to output: inout [UInt8]) {
    for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
      let isControl = scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7f
      if isControl || LogValue.isMisleading(scalar.value) {
        LogValue.appendEscape(UInt8(ascii: "u"), scalar.value, digits: 4, to: &output)
      } else {
        output += UTF8.encode(scalar)!
      }
    }
  }
}
