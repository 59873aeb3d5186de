// The ways in which the story can go.

enum Variant: String, CaseIterable {
  /// Nobody clears a view model.
  case careless
  /// A holder clears it, but on each sixth visit a closure has captured the holder.
  case captured
  /// A holder clears it, and nothing captures the holder.
  case holder
  /// Nobody clears it, and its stream stops when nobody collects.
  case demand
  /// A holder clears it, but it has a scope of its own besides.
  case ownScope = "own-scope"
  /// The same with both scopes ended.
  case bothScopes = "both-scopes"
  /// No cycles: the four actions of a navigation, with two ideas of when a view model is to be cleared.
  case visibility
}
