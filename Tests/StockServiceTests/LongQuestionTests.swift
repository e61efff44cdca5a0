// A question that takes long, asked of a service that does not survive it, on a socket that stands for one.

import BankModel
import Posix
import StockClient
import Testing
import Transport
import Wire

@Suite("A question that a service does not survive", .serialized)
struct LongQuestionTests {
  @Test("is not sent to a third one; others are sent again until there is an answer")
  func audit() throws {
    let house = try StockHouse()
    try Directory.create(path: Paths.directory(of: house.socket))
    let socket = ServiceSocket<StockRequest, StockResult>(loop: house.loop)
    var audits = 0
    var looks = 0
    socket.onRequest = { session, request in
      if request.command == .audit {
        audits += 1
        session.channel.close()
      } else if request.command == .look {
        looks += 1
        guard looks > 4 else { return session.channel.close() }
        socket.answer(
          session, request.number, .picture(StockPicture(ledger: 1, sequence: 0, items: [])))
      }
    }
    try socket.listen(at: house.socket)
    let client = house.client()
    var answer: Result<StockResult, StockClientError>?
    func ask(_ command: StockCommand) throws {
      answer = nil
      let until = SystemClock.monotonic() + StockHouse.patience
      client.ask(command, until: until) { answer = $0 }
      while answer == nil, SystemClock.monotonic() < until {
        socket.flush()
        try client.turn(until: SystemClock.monotonic() + .milliseconds(20))
      }
    }
    try ask(.audit)
    #expect(audits == 2)
    guard case .failure(.tryLater(let detail)) = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
    #expect(detail.description.contains("ended 2 times"))
    try ask(.look)
    #expect(looks == 5)
    guard case .success(.picture) = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
    client.close()
    socket.stopListening()
  }

  @Test("an answer that has come while nobody listened is heard before the question is given up")
  func heardFirst() throws {
    let house = try StockHouse()
    try Directory.create(path: Paths.directory(of: house.socket))
    let socket = ServiceSocket<StockRequest, StockResult>(loop: house.loop)
    var looks = 0
    socket.onRequest = { session, request in
      looks += 1
      socket.answer(session, request.number, .picture(StockPicture(ledger: 1, sequence: 0, items: [])))
    }
    try socket.listen(at: house.socket)
    // The client has a loop of its own, which does not run while the service does.
    let client = StockClient(socket: house.socket, loop: try EventLoop())
    var answers: [Result<StockResult, StockClientError>] = []
    let patience = SystemClock.monotonic() + StockHouse.patience
    client.ask(.look, until: patience) { answers.append($0) }
    while answers.isEmpty, SystemClock.monotonic() < patience {
      try client.turn(until: SystemClock.monotonic())
      try house.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1))
      socket.flush()
    }
    #expect(answers.count == 1 && looks == 1)
    let deadline = SystemClock.monotonic() + .milliseconds(500)
    client.ask(.look, until: deadline) { answers.append($0) }
    client.endTurn()
    while looks < 2 || SystemClock.monotonic() < deadline, SystemClock.monotonic() < patience {
      try house.loop.runOnce(until: deadline)
      socket.flush()
    }
    client.endTurn()
    guard answers.count == 2, case .success(.picture) = answers[1] else {
      Issue.record("\(answers)")
      return
    }
    client.close()
    socket.stopListening()
  }
}
