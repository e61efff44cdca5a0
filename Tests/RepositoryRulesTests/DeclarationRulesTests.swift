// Plants public declarations without documentation.

import Testing

@Suite("The rules about declarations")
struct DeclarationRulesTests {
  private func count(_ text: String) -> Int {
    DeclarationRules.checkComments(File("Sources/Wire/Frame.swift", text)).count
  }

  @Test(
    "a public declaration has a documentation comment",
    arguments: [
      "public struct A {}", "public final class A {}", "  public var a = 1", "  public static func a() {}",
      "@inlinable public func a() {}",
      "  public init(a: Int) throws {\n    try check(a)\n    self.a = a\n  }",
    ])
  func missing(declaration: String) {
    #expect(count(declaration) == 1)
    #expect(count("// No documentation.\n" + declaration) == 1)
    #expect(count("/// What it is.\n" + declaration) == 0)
    #expect(count("/// What it is.\n@MainActor\n" + declaration) == 0)
    #expect(DeclarationRules.checkComments(File("Tests/WireTests/A.swift", declaration)).isEmpty)
  }

  @Test(
    "an initializer that only fills fields needs none, nor do extensions, overrides and Codable"
  )
  func exempt() {
    #expect(count("  public init(a: Int, b: Int = 2) {\n    self.a = a\n    self.b = b\n  }") == 0)
    #expect(count("  public init(\n    a: Int,\n    b: Int\n  ) {\n    self.a = a\n    self.b = b\n  }") == 0)
    #expect(count("  public init(a: Int) { self.a = a }") == 0)
    #expect(count("  public init(a: Int, b: Int) { (self.a, self.b) = (a, b) }") == 0)
    #expect(count("  public init() {}") == 0)
    #expect(count("  public init(from decoder: any Decoder) throws {\n    try decode(decoder)\n  }") == 0)
    #expect(count("  public func encode(to encoder: any Encoder) throws {\n    try write(encoder)\n  }") == 0)
    #expect(count("public extension A {}") == 0)
    #expect(count("  public override func a() {}") == 0)
    #expect(count("  var a = 1") == 0)
  }
}
