// A client of the vending machine that was stalled itself: messages of the machine that came meanwhile are
// handled first.

import BankModel
import Posix
import Testing
import Time
import Transport
import VendingClient
import Wire

@Suite("A client that was stalled")
struct VendingClientTests {
  @Test("handles an answer that came during the stall before it gives the question up")
  func heardFirst() throws {
    let fixture = try VendingFixture()
    let path = VendingClient.customersSocket(inHome: fixture.home)
    try Directory.create(path: Paths.directory(of: path))
    let socket = ServiceSocket<VendingRequest, VendingResult>(loop: fixture.loop)
    var looks = 0
    socket.onRequest = { session, request in
      looks += 1
      socket.answer(session, request.number, .failure(VendingFailure(.crowded)))
    }
    try socket.listen(at: path)
    // The client has a loop of its own, which does not run while the machine does.
    let client = VendingClient(socket: path, loop: try EventLoop())
    var answers: [Result<VendingResult, VendingClientError>] = []
    let patience = SystemClock.monotonic() + VendingFixture.patience
    client.ask(.querySnapshot, until: patience) { answers.append($0) }
    while answers.isEmpty, SystemClock.monotonic() < patience {
      try client.runIteration(until: SystemClock.monotonic())
      try fixture.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1))
      socket.flush()
    }
    #expect(answers.count == 1 && looks == 1)
    let deadline = SystemClock.monotonic() + .milliseconds(500)
    client.ask(.querySnapshot, until: deadline) { answers.append($0) }
    client.finishIteration()
    while looks < 2 || SystemClock.monotonic() < deadline, SystemClock.monotonic() < patience {
      try fixture.loop.runOnce(until: deadline)
      socket.flush()
    }
    client.finishIteration()
    guard answers.count == 2, case .success(.failure(let failure)) = answers[1] else {
      Issue.record("\(answers)")
      return
    }
    #expect(failure.code == .crowded)
    client.close()
    socket.stopListening()
  }
}
