// The cycle runs through the boxes of an indirect enum.

indirect enum Statement {
  case number(Int)
  case constant(Symbol)
  case call(interpreter: Interpreter?, name: String)
  case both(Statement, Statement)
}

final class Symbol {
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Interpreter {
  var program: Statement?
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

extension LeakCase {
  static let indirectEnum = LeakCase("indirect-enum") { variant in
    forEachRound {
      let interpreter = Interpreter()
      let call = Statement.call(
        interpreter: variant == .advised ? nil : interpreter, name: "print")
      interpreter.program = .both(.both(.number(1), .constant(Symbol())), call)
      if variant == .opposite { interpreter.program = .number(2) }
    }
  }
}
