// The operand `SCRATCH` of the benchmark and chaos programs: the directory for their banks. The calling script
// creates and removes it.
import Arguments

package enum ScratchDirectory {
  package static let operand = OperandSpec(
    "SCRATCH", .path,
    summary: Text(
      "A directory for its banks on a real disk, as an absolute path; scripts/bench and scripts/fuzz make one.",
      "은행을 둘, 실제 디스크에 있는 디렉터리의 절대 경로입니다. scripts/bench와 scripts/fuzz가 만들어 줍니다."))

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
