// What a person sees and does in a browser, against a bank that works. Every test has a bank and a browser of its own, one
// after another: three banks at once would only wait for one another.
import Testing

@Suite("Pages", .serialized)
struct PageTests {}
