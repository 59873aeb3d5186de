// A video track and the renderers that show it.
import Glibc
import SampleSupport

/// A stream of pictures from one side of the call. It knows its renderers, since it feeds them.
@MainActor
final class VideoTrack {
  let source: String
  private(set) var renderers: [NativeRenderer] = []

  init(source: String) {
    self.source = source
    LiveCounts.born(Self.self)
  }
  deinit { LiveCounts.died(Self.self) }

  func attach(_ renderer: NativeRenderer) {
    renderers.append(renderer)
  }

  func deliverFrame() {
    for renderer in renderers { renderer.show() }
  }

  /// From here on, no delegate hears of this track's pictures.
  func silence() {
    for renderer in renderers { renderer.delegate = nil }
  }

  /// Ends the track: nothing is fed any more, on either side.
  func stop() {
    for renderer in renderers { renderer.stop() }
    renderers = []
  }
}

/// Hears that a picture can be seen.
@MainActor
protocol NativeRendererDelegate: AnyObject {
  func rendererDidShowFirstFrame(_ renderer: NativeRenderer)
}

/// Draws a track into memory of its own. Mistake (b): a renderer that holds its track, which holds its
/// renderers, and a delegate that isn't weak.
@MainActor
final class NativeRenderer {
  nonisolated private static let frameBytes = 16 * 1024

  var track: VideoTrack?
  var delegate: (any NativeRendererDelegate)?
  private var framesShown = 0
  // Freed in `deinit`, when nobody else can have the object any more.
  nonisolated(unsafe) private let frame: UnsafeMutableRawPointer?

  init() {
    frame = calloc(1, Self.frameBytes)
    LiveCounts.born(Self.self)
  }

  deinit {
    free(frame)
    LiveCounts.died(Self.self)
  }

  func show() {
    guard let frame else { return }
    memset(frame, CInt(framesShown & 0xFF), Self.frameBytes)
    framesShown += 1
    if framesShown == 1 { delegate?.rendererDidShowFirstFrame(self) }
  }

  func stop() {
    track = nil
    delegate = nil
  }
}
