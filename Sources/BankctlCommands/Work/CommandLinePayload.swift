// A command line as the payload of a customer: arguments, directory, environment and limits as one JSON
// object.
// Invariant: no byte of the command line is changed, and no shell interprets it. The variables `BANK_*` are omitted,
// because the bank sets them. Text that is not UTF-8 is stored as base64.

import ByteText
import JSON
import Posix

/// The payload of a customer of the runner: a command line with directory, environment, input and limits of its
/// process.
struct CommandLinePayload {
  /// The program and its arguments.
  var argv: [String]
  var directory: String
  /// Complete environment without the variables of this bank (`BANK_*`).
  var environment: EnvironmentVariables
  /// True if a client waits for the end of the command.
  var isWaited = false
  var input: [UInt8] = []
  /// umask and resource limits inherited by this program.
  var surroundings: InheritedLimits

  /// Collects the command line, the current directory and the environment.
  /// - Throws: an error if the current directory was removed.
  init(
    _ argv: [String], _ environment: EnvironmentVariables, _ surroundings: InheritedLimits = .inherited
  ) throws(SystemError) {
    self.argv = argv
    directory = try Directory.current()
    self.environment = environment.filter { !$0.key.hasPrefix("BANK_") }
    self.surroundings = surroundings
  }

  /// The payload as JSON, for example:
  /// `{"command":["make","all"],"directory":"/src","environment":{"PATH":"/bin"},"umask":"0022"}`
  var bytes: [UInt8] {
    var fields: [JSONValue.Field] = []
    /// Adds a field to the JSON object of the payload.
    func add(_ name: String, _ value: JSONValue) { fields.append(JSONValue.Field(name: name, value: value)) }
    if argv.contains(where: ByteText.containsNonUTF8Bytes) {
      add("command_b64", .array(argv.map(Self.encoded)))
    } else {
      add("command", .array(argv.map { .string($0) }))
    }
    if ByteText.containsNonUTF8Bytes(directory) {
      add("directory_b64", Self.encoded(directory))
    } else {
      add("directory", .string(directory))
    }
    let isText = { (name: String, value: String) in
      !ByteText.containsNonUTF8Bytes(name) && !ByteText.containsNonUTF8Bytes(value)
    }
    add(
      "environment",
      .object(
        environment.inOrder.filter(isText).map { JSONValue.Field(name: $0.key, value: .string($0.value)) }))
    let others = environment.inOrder.filter { !isText($0.key, $0.value) }
    if !others.isEmpty {
      add("environment_b64", .array(others.map { Self.encoded("\($0.key)=\($0.value)") }))
    }
    if !input.isEmpty {
      if let text = String(validating: input, as: UTF8.self), !ByteText.containsNonUTF8Bytes(text) {
        add("input", .string(text))
      } else {
        add("input_b64", .string(Base64.encode(input)))
      }
    }
    if let mask = surroundings.mask { add("umask", .string(FileMask.text(mask))) }
    if !surroundings.limits.isEmpty {
      add(
        "limits",
        .object(
          surroundings.limits.map { limit in
            JSONValue.Field(
              name: limit.resource.rawValue, value: .array([Self.bound(limit.soft), Self.bound(limit.hard)]))
          }))
    }
    if isWaited { add("waited", .bool(true)) }
    var bytes: [UInt8] = []
    JSONValue.object(fields).append(to: &bytes)
    return bytes
  }

  /// The bytes of a text as base64.
  private static func encoded(_ text: String) -> JSONValue {
    .string(Base64.encode(ByteText.bytes(of: text)))
  }

  /// A resource limit as a number; null for unlimited.
  private static func bound(_ number: UInt64) -> JSONValue {
    number == ResourceLimit.unlimited ? .null : JSONValue(number)
  }
}
