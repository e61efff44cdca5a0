// Valid names of services, and their numbers.

import BankModel
import Testing

@Suite struct ServiceDirectoryTests {
  @Test(
    "valid names", arguments: ["a", "0", "thumbs", "a.b-c_d", "9-1", String(repeating: "x", count: 64)])
  func names(text: String) throws {
    let name = try #require(ServiceName(text))
    #expect(name.text == text && "\(name)" == text)
  }

  @Test(
    "invalid names",
    arguments: [
      "", "-a", ".a", "_a", "A", "a b", "a/b", "예금", "a=1", "a\n", "a\0", String(repeating: "x", count: 65),
    ])
  func badNames(text: String) { #expect(ServiceName(text) == nil) }

  @Test("every branch has its three services under their permanent numbers")
  func branch() {
    let directory = ServiceDirectory()
    #expect(
      directory.names == [.deposit, .loan, .juice] && Array(directory.services) == [.deposit, .loan, .juice])
    for (name, service) in zip(directory.names, [Service.deposit, .loan, .juice]) {
      #expect(directory[name] == service && directory[service] == name)
    }
    #expect(Service.deposit.number == 1 && Service.loan.number == 2 && Service.juice.number == 3)
  }

  @Test("a name gets the next number once")
  func adding() throws {
    var directory = ServiceDirectory()
    let (thumbs, mail) = (try #require(ServiceName("thumbs")), try #require(ServiceName("mail-1")))
    #expect(directory.add(thumbs).number == 4 && directory.add(mail).number == 5)
    #expect(directory.add(thumbs).number == 4 && directory.count == 5)
    #expect(directory.service(numbered: 5) == directory[mail])
    #expect(directory.service(numbered: 0) == nil && directory.service(numbered: 6) == nil)
    #expect(ServiceDirectory(names: directory.names) == directory)
    #expect(ServiceDirectory(names: directory.names + [thumbs]) == nil)
    #expect(ServiceDirectory(names: [.loan, .deposit, .juice]) == nil)
    let window = Window(service: directory.add(mail), place: 12)
    #expect(directory.name(of: window) == "mail-1-12" && directory.window(named: "mail-1-12") == window)
    for other in ["mail-1-+12", "mail-1-012"] { #expect(directory.window(named: other) == nil) }
    #expect(directory.window(named: "mail-12") == nil && ServiceName(ofWindow: "mail-1-12") == mail)
  }
}
