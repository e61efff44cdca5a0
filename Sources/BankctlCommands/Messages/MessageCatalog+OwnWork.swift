// Sentences for clients that run inside the work of a customer,
// if their request would wait for that work or stop it.

import Arguments
import Wire

extension MessageCatalog {
  /// Sentence: the bank has started to close, and the command does not wait.
  var isClosing: String {
    say(
      "The bank closes when all waiting customers have been served. This command does not wait; to wait: bankctl stop",
      "기다리는 고객을 모두 처리한 뒤 마감합니다. 이 명령은 기다리지 않습니다. 기다리려면 'bankctl stop'을 쓰세요.")
  }

  /// Sentence: a request was refused, because it came from the work that it would wait for or stop.
  func fromOwnWork(_ failure: Failure) -> String {
    let place = workLocation(failure.detail)
    switch failure.subject {
    case "stop":
      return say(
        "This command runs inside the bank's own work\(place), and the bank closes only when that work has ended: it "
          + "would wait for itself. Nothing was changed. To close the bank afterwards: bankctl stop --no-wait",
        "이 명령은 은행이 하는 일 안에서 실행됩니다\(place). 그 일이 끝나야 은행이 마감하므로 자신을 기다리게 됩니다. 변경된 내용은 없습니다. 일이 끝난 뒤 마감하게 하려면 'bankctl "
          + "stop --no-wait'를 쓰세요.")
    case "reset":
      return say(
        "This command runs inside the bank's own work\(place), which a reset would stop before the command completes. "
          + "Nothing was changed. Reset the bank from outside its work.",
        "이 명령은 은행이 하는 일 안에서 실행됩니다\(place). 초기화하면 응답을 받기 전에 그 일이 종료됩니다. 변경된 내용은 없습니다. 은행이 하는 일 밖에서 초기화하세요.")
    case "wait":
      return say(
        "This command runs inside the bank's own work\(place), and the bank is not idle before that work has ended: it "
          + "would wait for itself. Wait outside the bank's work, or for some tickets only: bankctl enqueue --wait",
        "이 명령은 은행이 하는 일 안에서 실행됩니다\(place). 그 일이 끝나기 전에는 은행이 한가해지지 않으므로 자신을 기다리게 됩니다. 은행이 하는 일 밖에서 기다리거나, "
          + "'bankctl enqueue --wait'로 일부 번호표만 기다리세요.")
    case "ticket":
      return say(
        "This command runs inside the work of a ticket that it would wait for\(place): it would wait for itself.",
        "이 명령은 자신이 기다리려는 번호표의 일 안에서 실행됩니다\(place). 자신을 기다리게 됩니다.")
    default:
      return say(
        "This command runs inside the bank's own work\(place), and all windows of that service have work that waits "
          + "like this: no window is left to serve the tickets. The tickets were issued and are served when this work "
          + "has ended. Open more windows for the service (bankctl scale), or omit --wait.",
        "이 명령은 은행이 하는 일 안에서 실행됩니다\(place). 그 업무의 창구가 모두 이렇게 기다리고 있어 번호표를 처리할 창구가 없습니다. 번호표는 발급되었고, 이 일이 끝나면 처리합니다. "
          + "'bankctl scale'로 창구를 늘리거나 --wait를 빼세요.")
    }
  }

  /// The ticket and the window of the work in parentheses: `run-1 12` becomes ` (ticket 12 at run-1)`.
  private func workLocation(_ detail: String) -> String {
    let parts = detail.split(separator: " ").map { safe(String($0)) }
    switch parts.count {
    case 0: return ""
    case 1: return " (\(parts[0]))"
    default:
      return say(" (ticket \(parts[1]) at \(parts[0]))", "(\(parts[0]), \(parts[1])번 고객)")
    }
  }
}
