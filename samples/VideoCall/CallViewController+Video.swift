// (b) Connection, delegates, tracks and renderers, each holding the next and the last one the screen.

extension CallViewController: PeerConnectionDelegate, NativeRendererDelegate {
  /// The strong delegates: screen → connection → screen, and
  /// screen → connection → tracks → renderers → screen.
  func showVideo() {
    connection.delegate = leaks.contains(.renderers) ? self : WeakScreen(self)
    for track in [camera, remote] {
      connection.add(track)
      track.attach(makeRenderer(for: track))
      track.deliverFrame()
    }
  }

  /// Shows the other camera instead. The first one's track isn't used any more and nothing can reach
  /// it; but where its renderer holds it, the two keep each other alive.
  func switchCamera(tearsDown: Bool) {
    let old = camera
    connection.remove(old)
    old.silence()
    if tearsDown { old.stop() }
    camera = VideoTrack(source: "back camera")
    connection.add(camera)
    camera.attach(makeRenderer(for: camera))
    camera.deliverFrame()
  }

  private func makeRenderer(for track: VideoTrack) -> NativeRenderer {
    let renderer = NativeRenderer()
    if leaks.contains(.renderers) {
      renderer.delegate = self
      renderer.track = track
    } else {
      renderer.delegate = WeakScreen(self)
    }
    return renderer
  }

  func connectionDidChange(_ connection: PeerConnection) {
    note("\(connection.tracks.count) tracks")
  }

  func rendererDidShowFirstFrame(_ renderer: NativeRenderer) {
    note("picture")
  }
}

/// Hands on what it hears to a screen that it doesn't hold.
@MainActor
private final class WeakScreen: PeerConnectionDelegate, NativeRendererDelegate {
  private weak var screen: CallViewController?

  init(_ screen: CallViewController) { self.screen = screen }

  func connectionDidChange(_ connection: PeerConnection) {
    screen?.connectionDidChange(connection)
  }

  func rendererDidShowFirstFrame(_ renderer: NativeRenderer) {
    screen?.rendererDidShowFirstFrame(renderer)
  }
}
