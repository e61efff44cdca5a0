// The operand `SCRATCH`:
// the directory in which a program creates its banks.
import Arguments

/// The operand for the directory in which a program creates its banks.
package enum ScratchDirectory {
  /// Description of the operand for the command table.
  package static let operand = OperandSpec(
    "SCRATCH", .path,
    summary: Text(
      "A directory for its banks on a real disk, as an absolute path; scripts/bench and scripts/fuzz make one.",
      "은행을 둘, 실제 디스크에 있는 디렉터리의 절대 경로입니다. scripts/bench와 scripts/fuzz가 만들어 줍니다."))

  /// The given directory; throws a usage error if its path is not absolute.
  package static func path(_ invocation: Invocation, _ messages: MessageCatalog) throws(CommandError)
    -> String
  {
    let path = invocation.operands.text(operand.name) ?? ""
    guard path.hasPrefix("/") else {
      throw .usage(
        messages.say(
          "SCRATCH must be an absolute path, not \(messages.quoted(path)).",
          "SCRATCH는 절대 경로로 쓰세요: \(messages.quoted(path))"))
    }
    return path
  }
}
