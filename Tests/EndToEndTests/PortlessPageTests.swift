// Page of a bank without internet sockets, as in the sandbox of config/bank.service: it listens only on the socket in
// the home, and a request to open it reports what to change.
import Foundation
import Testing

@Suite("A page without a port", .serialized)
struct PortlessPageTests {
  /// Filter that refuses internet sockets to a program and its children, like systemd's RestrictAddressFamilies=.
  /// seccomp(2)
  ///
  /// Four instructions: the number of the call, socket(2); its first argument, AF_INET; the error.
  private static let sandbox = """
    my ($socket, $prctl) = (`uname -m` =~ /^x86_64/) ? (41, 157) : (198, 167);
    my $filter = join "", map { pack "SCCL", @$_ } [0x20, 0, 0, 0], [0x15, 0, 3, $socket], [0x20, 0, 0, 16],
      [0x15, 0, 1, 2], [6, 0, 0, 0x50000 | shift], [6, 0, 0, 0x7fff0000];
    my $program = pack "Sx6P", length($filter) / 8, $filter;
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    syscall($prctl, 22, 2, $program) == 0 or die "seccomp: $!";
    exec @ARGV or die "$ARGV[0]: $!";
    """

  @Test(
    "without internet sockets the page is only at run/web.sock, and the message names the remedy",
    arguments: [EAFNOSUPPORT, EPERM, EACCES, EADDRNOTAVAIL])
  func refused(code: Int32) throws {
    try withScratchBank { branch in
      let arguments = ["-e", Self.sandbox, String(code), Binaries.bankctl, "start"]
      let start = try branch.launch(arguments, program: "/usr/bin/perl").finish()
      try #require(start.code == 0, start.story)
      let json = try branch.launch(["web", "--json", "--no-open"]).finish()
      try #require(json.code == 0, json.story)
      #expect(
        try json.json()["url"].text == nil && json.json()["port_error"].text?.contains("127.0.0.1") == true)
      let socket = try #require(try json.json()["socket"].text)
      #expect(socket == "\(branch.home)/run/web.sock")
      for (language, sentence) in [(OutputLanguage.en, "cannot listen"), (.ko, "받을 수 없습니다")] {
        let told = try branch.launch(["web", "--no-open"], language: language).finish()
        #expect(told.code == 0 && told.out.contains(socket) && !told.out.contains("http:"), told.story)
        #expect(told.err.contains(sentence), told.story)
        for setting in [
          "PrivateNetwork=no", "RestrictAddressFamilies=AF_UNIX AF_INET", "IPAddressAllow=localhost",
        ] {
          #expect(told.err.contains(setting), told.story)
        }
      }
      let client = WebClient(branch: branch, url: "", link: "", socket: socket, managerCode: "")
      #expect(try client.local("/api/v1/status").json["bank"]["state"].text == "open")
      #expect(try client.local("/").status == 200)
      #expect(branch.log("web").contains("event=listen_failed"))
    }
  }
}
