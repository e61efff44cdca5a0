// Keys and payloads of new customers: they are staged with the customers of their slice, or not at all.
import BankModel
import Testing

@testable import QueueCore

@Suite("Keys and payloads of new customers")
struct QueueAttachmentsTests {
  /// The changes that attach something, in their order.
  private static func attached(_ effects: [QueueEffect]) -> [StoreChange] {
    effects.compactMap { effect in
      guard case .stage(let change) = effect else { return nil }
      switch change {
      case .attach, .remember: return change
      default: return nil
      }
    }
  }

  private static func attachments(
    keys: [SliceKey] = [], payloads: [SlicePayload] = [], requestKey: String? = nil, digest: Int64? = nil
  ) -> SliceAttachments {
    var attachments = SliceAttachments()
    (attachments.keys, attachments.payloads) = (keys, payloads)
    (attachments.requestKey, attachments.requestDigest) = (requestKey, digest)
    return attachments
  }

  @Test("they are staged after the customers that have them, and the slice is accepted")
  func oneSlice() {
    let branch = TestBranch()
    branch.ask(.loan)
    let carried = Self.attachments(
      keys: [SliceKey(key: "a", digest: 7, ticket: 3)],
      payloads: [SlicePayload(payload: [1], tickets: 2...2), SlicePayload(payload: [2], tickets: 3...3)])
    let effects = branch.process(
      .enqueue(5, orders: [.deposit, .loan], total: 2, isLast: true, attachments: carried))
    #expect(
      Self.attached(effects) == [
        .attach(payload: [1], to: 2...2), .attach(payload: [2], to: 3...3),
        .remember(key: "a", day: 1, first: 3, last: 3, request: 7),
      ])
    #expect(effects.contains(.acceptSlice(5)))
    let lastInsert = effects.lastIndex { if case .stage(.insert) = $0 { true } else { false } }
    let firstAttached = effects.firstIndex { if case .stage(.attach) = $0 { true } else { false } }
    #expect(lastInsert ?? 9 < firstAttached ?? 0)
  }

  @Test(
    "the key of a request belongs to all of its tickets, also beside a gap", arguments: [0, 2] as [Int64])
  func requestKey(heldBack: Int64) {
    let branch = TestBranch()
    let key = Self.attachments(requestKey: "k", digest: nil)
    let first = branch.process(
      .enqueue(5, orders: [.deposit, .loan], total: 4, isLast: false, heldBack: heldBack))
    #expect(Self.attached(first) == [] && first.contains(.acceptSlice(5)))
    branch.process(.committed)
    let last = branch.process(
      .enqueue(5, orders: [.deposit, .deposit], total: 4, isLast: true, attachments: key))
    #expect(Self.attached(last) == [.remember(key: "k", day: 1, first: 1, last: 4, request: nil)])
  }

  @Test("a refused request stages nothing and is not accepted")
  func refused() {
    var policy = QueuePolicy()
    policy.maxWaiting = 1
    let branch = TestBranch(policy: policy)
    let carried = Self.attachments(
      payloads: [SlicePayload(payload: [1], tickets: 1...2)], requestKey: "k")
    for isLast in [true, false] {
      let effects = branch.process(
        .enqueue(5, orders: [.deposit, .loan], total: 2, isLast: isLast, attachments: carried))
      #expect(Self.attached(effects) == [] && !effects.contains(.acceptSlice(5)))
      #expect(effects.answer(to: 5) != nil)
    }
  }

  @Test("a payload or a key of a customer outside of the slice is a broken invariant")
  func foreign() async {
    await #expect(processExitsWith: .failure) {
      let carried = Self.attachments(payloads: [SlicePayload(payload: [1], tickets: 1...2)])
      TestBranch().process(.enqueue(5, orders: [.deposit], total: 1, isLast: true, attachments: carried))
    }
    await #expect(processExitsWith: .failure) {
      let carried = Self.attachments(keys: [SliceKey(key: "a", digest: nil, ticket: 2)])
      TestBranch().process(.enqueue(5, orders: [.deposit], total: 1, isLast: true, attachments: carried))
    }
  }
}
