// The deliberate end of a call.

extension CallViewController {
  /// Takes apart what the call has put together, whatever of it leaks. Driven by the call's end, since
  /// `deinit` can't be what frees a thing that somebody still holds.
  func tearDown() {
    client.disconnect()
    client.onConnectionChange = nil

    connection.delegate = nil
    for track in [camera, remote] {
      connection.remove(track)
      track.stop()
    }

    stopObserving()
    connection.close()
  }
}
