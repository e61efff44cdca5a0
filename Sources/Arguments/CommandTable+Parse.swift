// Parses a command line into an invocation or a usage error. This second pass checks the options and operands of the
// command that `ArgumentScanner` found.
// Invariant: a list of strings gives a result or an error, and nothing is printed.

extension CommandTable {
  /// Parses a command line: returns the command to run with its checked values, or a request for help or for the
  /// version.
  ///
  /// A request for help takes precedence over every error except an unknown command word. A request for the version
  /// has the next lower precedence.
  ///
  /// - Parameter arguments: The arguments after the program's name.
  /// - Throws: The first error in this order: an unknown command word; an unknown option, a missing value or a value of
  ///   a flag; a missing command word; any other error of an option; an error of an operand.
  public func parse(_ arguments: [String]) throws(UsageError) -> ParsedLine {
    let scan = ArgumentScanner(arguments, table: self)
    if let error = scan.commandError { throw error }
    if scan.wantsHelp { return .help(scan.path) }
    if scan.wantsVersion { return .version }
    if let error = scan.optionError { throw error }
    guard let command = command(at: scan.path) else {
      let reason: UsageError.Reason =
        scan.path.isEmpty
        ? .missingCommand
        : .missingSubcommand(after: scan.path, choices: nextWords(after: scan.path))
      throw UsageError(reason, program: program, command: scan.path)
    }
    let options = try options(scan, of: command)
    let operands = try operands(scan, options, of: command)
    return .run(Invocation(command: command, options: options, operands: operands))
  }

  /// Returns the arguments without the words that name the command.
  public func withoutCommand(_ arguments: [String]) -> [String] {
    let places = ArgumentScanner(arguments, table: self).pathIndexes
    return arguments.indices.filter { !places.contains($0) }.map { arguments[$0] }
  }

  /// The valid global options of a line that may contain errors.
  ///
  /// An error must be reported in the language and format that the faulty line itself requests. Invalid options are
  /// skipped. If an option occurs twice and is not repeatable, its first valid value counts.
  public func globalValues(inPossiblyInvalid arguments: [String]) -> Values {
    let scan = ArgumentScanner(arguments, table: self)
    var values = Values()
    for option in allGlobalOptions {
      values.declare(option.name, option.kind)
      for occurrence in scan.occurrences where option.longNames.contains(occurrence.name) {
        guard option.isRepeatable || !values.has(option.name) else { break }
        if let value = try? option.kind.check(occurrence.value ?? "given") {
          values.add(value, to: option.name)
        }
      }
    }
    return values
  }

  /// The checked values of the options of a command, the global ones included.
  private func options(_ scan: ArgumentScanner, of command: CommandSpec) throws(UsageError) -> Values {
    let specs = command.options + allGlobalOptions
    var values = Values()
    for spec in specs { values.declare(spec.name, spec.kind) }
    var given: [OptionSpec] = []
    for occurrence in scan.occurrences {
      guard let spec = specs.first(where: { $0.longNames.contains(occurrence.name) }) else {
        throw scan.unknown(occurrence.spelling)
      }
      if let other = given.first(where: { $0.excludes.contains(spec.name) || spec.excludes.contains($0.name) }
      ) {
        throw failure(.conflictingOptions(other.spelling, spec.spelling), command)
      }
      if values.has(spec.name) && !spec.isRepeatable {
        throw failure(.repeatedOption(spec.spelling), command)
      }
      given.append(spec)
      let value = try check(occurrence, spec, command)
      values.add(value, to: spec.name)
    }
    return values
  }

  private func check(
    _ occurrence: ArgumentScanner.Occurrence, _ spec: OptionSpec, _ command: CommandSpec
  ) throws(UsageError) -> Value {
    guard spec.takesValue else { return .flag }
    guard let text = occurrence.value else {
      throw failure(.missingValue(option: occurrence.spelling, placeholder: spec.placeholder), command)
    }
    do { return try spec.kind.check(text) } catch {
      throw failure(.invalidValue(.option(occurrence.spelling), error), command)
    }
  }

  private func operands(
    _ scan: ArgumentScanner, _ options: Values, of command: CommandSpec
  ) throws(UsageError) -> Values {
    /// True if the command has this option and the line contains it.
    func isGiven(_ option: String) -> Bool { options.declares(option) && options.has(option) }
    var values = Values()
    for spec in command.operands { values.declare(spec.name, spec.kind) }
    var words = scan.operands[...]
    let replaced = command.operands.filter { $0.replacedBy.map(isGiven) ?? false }
    let expected = command.operands.filter { !replaced.contains($0) }
    if let spec = replaced.first, let option = spec.replacedBy, words.count > expected.count,
      !expected.contains(where: \.arity.repeats)
    {
      let word = words[words.startIndex + expected.count]
      throw failure(.operandWithOption(operand: spec.name, value: word, option: "--" + option), command)
    }
    for spec in expected {
      let count = spec.arity.repeats ? words.count : min(1, words.count)
      let isImplied = spec.impliedBy.contains(where: isGiven)
      if count == 0 && spec.arity.isRequired && !isImplied {
        throw failure(.missingOperand(name: spec.name, summary: spec.wanted), command)
      }
      for word in words.prefix(count) {
        do { values.add(try spec.kind.check(word), to: spec.name) } catch {
          throw failure(.invalidValue(.operand(spec.name), error), command)
        }
      }
      words = words.dropFirst(count)
    }
    if let word = words.first { throw failure(.unexpectedOperand(word, expected: expected.count), command) }
    return values
  }

  private func failure(_ reason: UsageError.Reason, _ command: CommandSpec) -> UsageError {
    UsageError(reason, program: program, command: command.path)
  }
}
