// Pages in a browser with a real bank. Every test has its own bank and browser. The tests run one after another,
// because three banks at once would only slow each other down.
import Testing

@Suite("Pages", .serialized)
struct PageTests {}
