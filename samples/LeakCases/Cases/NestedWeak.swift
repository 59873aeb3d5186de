// The inner closure is weak, so it looks right; the outer one has to hold the editor to give it that.

final class Outbox {
  private var letters: [() -> Void] = []
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
  func put(_ letter: @escaping () -> Void) { letters.append(letter) }
  func send() {
    for letter in letters { letter() }
    letters = []
  }
}

final class Editor {
  private var onSave: (() -> Void)?
  private var saves = 0
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }

  func connect(to outbox: Outbox, weakly: Bool) {
    if weakly {
      onSave = { [weak self] in
        outbox.put { self?.saves += 1 }
      }
    } else {
      onSave = {
        outbox.put { [weak self] in self?.saves += 1 }
      }
    }
  }
  func save() { onSave?() }
}

extension LeakCase {
  static let nestedWeak = LeakCase("nested-weak") { variant in
    forEachRound {
      let outbox = Outbox()
      let editor = Editor()
      editor.connect(to: outbox, weakly: variant.isMended)
      editor.save()
      outbox.send()
    }
  }
}
