// The schema of the protocol, the golden messages and the messages in Swift agree, each pair of them both
// ways: nothing is sent that the schema does not describe, and it describes nothing that no golden message
// has.

import BankModel
import Testing

@testable import Wire

@Suite("The schema of the protocol")
struct ProtocolSchemaTests {
  private let schema: CDDLSchema
  private let validator: CDDLValidator

  init() throws {
    schema = try protocolSchema()
    validator = CDDLValidator(schema)
  }

  @Test("every golden message matches its rule")
  func messages() throws {
    for sample in ProtocolSample.all {
      let value = try sample.value()
      do throws(CDDLMismatch) {
        _ = try validator.check(value, by: sample.rule)
        if ProtocolSample.conversations.contains(sample.rule) {
          _ = try validator.check(value, by: schema.root)
        }
      } catch { Issue.record("\(sample.name) is not a \(sample.rule), \(error)") }
    }
  }

  @Test("every golden file has a rule")
  func everyFile() throws {
    let names = ProtocolSample.all.map(\.name) + ProtocolValues.all.flatMap(\.files)
    let files = try #require(goldenNames()).filter { !$0.hasPrefix("codec-") }
    #expect(Set(files).symmetricDifference(names) == [])
  }

  @Test("every rule, every field and every option of the schema is in a golden file")
  func everyPlace() throws {
    var used: Set<String> = []
    for sample in ProtocolSample.all {
      used.formUnion(try validator.check(sample.value(), by: sample.rule).used)
    }
    for values in ProtocolValues.all {
      let golden = try values.goldenValues()
      for place in values.places {
        for (value, place) in schema.values(at: place) ?? [:] where golden.contains(value) {
          used.insert(place)
        }
      }
    }
    // The first rule is for other tools: if protocols start alike, it finds the first one of them only.
    let idle = schema.places.keys.filter {
      $0 != schema.root && !$0.hasPrefix(schema.root + "/") && !used.contains($0)
    }
    #expect(idle.sorted() == [], "no golden file has these; record samples of them")
  }

  @Test("every optional field is left out in a golden message")
  func everyAbsence() throws {
    var absent: Set<String> = []
    for sample in ProtocolSample.all {
      absent.formUnion(try validator.check(sample.value(), by: sample.rule).absent)
    }
    #expect(schema.optionalFields.subtracting(absent).sorted() == [], "no golden message leaves these out")
  }

  @Test(
    "every map of every message has the coding keys of the schema, also those without a sample")
  func everyKey() throws {
    for sample in ProtocolSample.all {
      let maps = try validator.check(sample.value(), by: sample.rule).maps
      let keys = try codingKeys(of: sample.message)
      #expect(Set(keys.keys).subtracting(maps.keys) == [], "\(sample.name)")
      for (path, map) in maps {
        #expect(keys[path, default: []] == map.numbers, "\(sample.name) at \(path): \(map.group)")
      }
    }
  }

  @Test("every enumeration has the values of the schema")
  func everyValue() throws {
    for values in ProtocolValues.all {
      var inSchema: Set<AnyValue> = []
      for place in values.places {
        inSchema.formUnion(try #require(schema.values(at: place), "\(place)").keys)
      }
      #expect(inSchema == values.values, "\(values.places)")
      #expect(try values.goldenValues().subtracting(inSchema) == [], "\(values.files)")
    }
  }

  @Test("the bounds are those of the domain")
  func bounds() {
    func expect(_ place: String, _ bounds: ClosedRange<some BinaryInteger>) {
      #expect(
        schema.bounds(at: place) == Int128(bounds.lowerBound)...Int128(bounds.upperBound), "\(place)")
    }
    expect("ticket", 1...Limits.ticket)
    expect("won", 0...Limits.amount)
    expect("account", 0...Limits.account)
    expect("key", 1...Limits.keyLength)
    expect("article", 1...Limits.itemNameLength)
    expect("enqueue.1", 1...Limits.customersPerCommand)
    expect("control-command.5.1", 0...EnqueueList.partLimit)
    expect("ticket-query.4", 1...TicketQuery.limitAtMost)
    expect("receipt-query.5", 1...TicketQuery.limitAtMost)
    expect("board.9", 0...BoardFrame.servicesAtMost)
    expect("board.10", 0...BoardFrame.waitingAtMost)
    expect("board.11", 0...BoardFrame.servingAtMost)
    expect("board.12", 0...BoardFrame.eventsAtMost)
    expect("board.13", 0...BoardFrame.windowsAtMost)
    expect("board.15.2", 0...BoardFrame.servicesAtMost)
    expect("board-parts", 0...BoardHistory.intervalsAtMost)
    expect("board-service.5", 0...BoardService.gradesAtMost + 1)
    expect("board-window.6", 0...BoardWindow.ticketsAtMost)
    expect("control-command.14[].2", 0...Limits.windowsPerService)
    expect("worker.4", 1...Limits.windowsPerService)
    expect("enqueued.6", 1...TicketSpan.limit)
    expect("control-answer.14.2", 0...AccountReport.latestAtMost)
    expect("item", 1...StockLimits.itemLength)
    expect("order", 1...StockLimits.orderLength)
    expect("pieces", 1...StockLimits.quantity)
    expect("stored", 0...StockLimits.quantity)
    expect("difference/2", -StockLimits.quantity ... -1)
    expect("date", StockLimits.days)
    expect("stock-command.4.1", 0...StockLimits.itemsPerOrder)
    expect("stock-command.10.2", 1...StockLimits.ordersPerPage)
    expect("stock-result.8", 0...Int(StockLimits.ordersPerPage))
    expect("stock-picture.3", 0...StockLimits.items)
    expect("machine-order", 1...VendingLimits.requestLength)
    expect("vending-command.4", VendingLimits.insertion)
    expect("price", 0...VendingLimits.price)
    expect("balance", 0...VendingLimits.balance)
    expect("vending-picture.7", 0...VendingSnapshot.recentLimit)
    expect("offer.1", 1...WorkerOffer.longest)
    expect("progress-of-work.2", 0...WorkProgress.longestText)
    for window in [Window(service: .loan, place: 1), Window(service: .deposit, place: 256)] {
      #expect(
        schema.bounds(at: "name")?.contains(Int128(ServiceDirectory().name(of: window).utf8.count)) == true)
    }
    #expect(
      schema.bounds(at: "ledger-account")?.upperBound == Int128("customer-\(Limits.account)".utf8.count))
  }

  @Test("the first rule is the choice of all protocols")
  func root() throws {
    guard case .choice(let options)? = schema.rules[schema.root] else {
      Issue.record("\(schema.root) is not a choice")
      return
    }
    let names = options.map { if case .rule(let name) = $0.type { name } else { $0.place } }
    #expect(Set(names) == ProtocolSample.conversations)
  }
}

/// The schema beside the description of the protocol, of both files.
func protocolSchema() throws -> CDDLSchema {
  let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
  let parts = try ["protocol", "control", "board"].map { name in
    let path = "/\(root)/Sources/Wire/Wire.docc/\(name).cddl"
    return try #require(readFile(path), "\(path) is missing")
  }
  return try CDDLSchema(parts.joined())
}
