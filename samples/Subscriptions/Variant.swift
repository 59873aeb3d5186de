// The ways in which the story can go.

enum Variant: String, CaseIterable {
  /// A closure in the owner's own bag captures the owner.
  case strong
  /// The same with a method in place of the closure: no `self` in sight.
  case method
  /// The closure captures the owner weakly.
  case weak
  /// `subscribe(with:)` in the bag of somebody who lives longer.
  case with
  /// A disposable that nobody keeps.
  case dropped
  /// A thousand subscriptions that have finished.
  case finished
  /// A hundred thousand finished subscriptions in a bag that lives as long as the program.
  case bag
  /// The same in a bag that drops what has finished.
  case lifetimeBag = "lifetime-bag"
  /// The first three of a thousand, from a source that can't be stopped and one that can.
  case take
  /// In which order, and when, a bag disposes.
  case order
}
