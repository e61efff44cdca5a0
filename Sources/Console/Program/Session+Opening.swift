// Owns what the commands that open a bank share: the words a coordinator is started with.
// Invariant: what was not said on the command line is left to the configuration.
import Arguments
import ControlClient
import Posix

extension Session {
  /// The order to open, as the options `--deposit`, `--loan`, `--speed` and `--config` say.
  ///
  /// - Parameter juice: Juice stations; nil for what the configuration says.
  func openingOrder(juice: Int64?) throws(CommandError) -> LaunchOrder {
    LaunchOrder(
      .open, home: home,
      configuration: try surroundings.configuration(flag: invocation.text("config"), home: home),
      language: words.language.code, deposit: invocation.integer("deposit"), loan: invocation.integer("loan"),
      juice: juice, speed: invocation.speed("speed")?.description)
  }
}
