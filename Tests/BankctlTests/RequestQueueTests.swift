// Requests of keys to a service: one at a time, in order, and none later than a moment after its key.
import BankModel
import Posix
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("The requests of a full screen")
struct RequestQueueTests {
  private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  private let english = MessageCatalog(language: .english)
  private let korean = MessageCatalog(language: .korean)

  @Test("one request is sent, the next follows its answer, and all come in order")
  func order() {
    var queue = RequestQueue<Int>()
    #expect(!queue.isBusy && queue.next(at: at(0)) == nil && queue.due == nil)
    for request in 1...3 { queue.add(request) }
    #expect(queue.next(at: at(0)) == 1 && queue.next(at: at(0)) == nil && queue.all == [1, 2, 3])
    #expect(queue.answered() == 0)
    #expect(queue.next(at: at(1)) == 2 && queue.answered() == 0 && queue.next(at: at(2)) == 3)
    #expect(queue.isBusy && queue.inDoubt == 3)
    queue.answered()
    #expect(!queue.isBusy && queue.inDoubt == nil && queue.next(at: at(3)) == nil)
  }

  @Test(
    "while the service is silent, unsent requests are dropped and counted, and later keys, too"
  )
  func silence() {
    var queue = RequestQueue<String>()
    for request in ["a", "b", "c"] { queue.add(request) }
    _ = queue.next(at: at(0))
    #expect(queue.due == at(300) && !queue.settle(at: at(299)))
    #expect(queue.settle(at: at(300)) && queue.pace == .slow && queue.due == at(1_500))
    #expect(queue.all == ["a", "b", "c"], "a slow disk loses no keys")
    #expect(queue.settle(at: at(1_500)) && queue.pace == .silent && queue.due == nil)
    #expect(queue.all == ["a"] && queue.refused == 2)
    queue.add("d")
    #expect(queue.refused == 3 && queue.next(at: at(1_600)) == nil && queue.all == ["a"])
    #expect(queue.answered() == 3 && queue.pace == .prompt)
    #expect(queue.next(at: at(9_000)) == nil, "nothing is made up for")
    queue.add("e")
    #expect(queue.refused == 0 && queue.next(at: at(9_000)) == "e")
  }

  @Test(
    "a request without an answer stays in doubt, and keys are ignored, until the service answers")
  func doubt() {
    var queue = RequestQueue<String>()
    queue.add("a")
    _ = queue.next(at: at(0))
    queue.add("b")
    queue.gaveUp()
    #expect(queue.pace == .silent && queue.inDoubt == "a" && !queue.isBusy && queue.refused == 1)
    queue.add("c")
    #expect(queue.next(at: at(20_000)) == nil && queue.refused == 2 && !queue.settle(at: at(20_000)))
    #expect(queue.answered() == 2 && queue.inDoubt == nil && queue.pace == .prompt)
  }

  @Test("keys beyond a sensible number are counted, and the others are sent")
  func flood() {
    var queue = RequestQueue<Int>()
    for request in 1...1_000 { queue.add(request) }
    #expect(queue.all == Array(1...256) && queue.refused == 744)
  }

  @Test("a request is named in both languages, and so is the number of ignored keys")
  func messages() {
    var queue = RequestQueue<VendingCommand>()
    func text(_ messages: MessageCatalog) -> String? {
      messages.waiting(for: .vending, queue) { messages.request($0, nil) }
    }
    #expect(text(english) == nil)
    queue.add(.buy("coke"))
    _ = queue.next(at: at(0))
    _ = queue.settle(at: at(500))
    #expect(text(english) == "The vending machine is slow to respond: buy Coca-Cola")
    #expect(text(korean) == "자판기가 아직 응답하지 않았습니다: 코카콜라 구매")
    _ = queue.settle(at: at(2_000))
    queue.add(.insert(1_000))
    #expect(
      text(english)
        == "The vending machine does not respond. Sent; may still take effect: buy Coca-Cola. 1 key press was ignored."
    )
    #expect(text(korean) == "자판기가 응답하지 않습니다. 전송했으므로 나중에 처리될 수 있습니다: 코카콜라 구매. 키 입력 1개를 무시했습니다.")
    #expect(english.added("kiwi", -1) == "remove 1 kiwi" && korean.added("키위", 2) == "키위 2개 넣기")
  }

  @Test("the boards show a silent machine until it answers, and pasted text is not a key")
  func boards() {
    var board = CustomerBoard(english)
    board.notice.isConnected = true
    board.handle(
      .snapshot(
        VendingSnapshot(
          sequence: 1, balance: 0, availableBalance: 0, today: 1, products: [], sales: [], recent: [])))
    board.notice.silence = "silent"
    func lines() -> [String] { CustomerBoardRenderer(board: board, palette: .none).lines(size: nil) }
    #expect(lines().contains("silent"))
    #expect(board.press(.paste) == nil && lines().contains(english.pasteIgnored))
    board.notice.silence = nil
    _ = board.press(.right)
    #expect(!lines().contains("silent"))
    board.notice.isConnected = false
    #expect(board.press(.character("1")) == nil && lines().contains(english.machineIgnoredKey))
  }
}
