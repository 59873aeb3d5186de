// `unowned` keeps the memory of an object that was destroyed, `weak` keeps a small side table only.
import Synchronization

final class Canvas: ManagedBuffer<Int, UInt8> {
  static func make() -> Canvas {
    let bytes = 64 * 1024
    let canvas = unsafeDowncast(Canvas.create(minimumCapacity: bytes) { _ in 0 }, to: Canvas.self)
    canvas.withUnsafeMutablePointerToElements { $0.initialize(repeating: 7, count: bytes) }
    Live.born(Self.self)
    return canvas
  }
  deinit { Live.died(Canvas.self) }
}

final class Frame {
  let size = [4, 3]
  init() { Live.born(Self.self) }
  deinit { Live.died(Self.self) }
}

final class Thumbnail {
  unowned var canvas: Canvas?
  weak var frame: Frame?
  init(_ canvas: Canvas, _ frame: Frame) {
    self.canvas = canvas
    self.frame = frame
    Live.born(Self.self)
  }
  deinit { Live.died(Self.self) }
}

enum Gallery {
  nonisolated(unsafe) static var thumbnails: [Thumbnail] = []
}

@inline(never)
func hangPicture(keepThumbnail: Bool, thenForget: Bool) {
  let canvas = Canvas.make()
  let frame = Frame()
  let thumbnail = Thumbnail(canvas, frame)
  if thenForget { thumbnail.canvas = nil }
  if keepThumbnail { Gallery.thumbnails.append(thumbnail) }
  withExtendedLifetime((canvas, frame)) {}
}

extension LeakCase {
  static let unownedZombies = LeakCase("unowned-zombies") { variant in
    forEachRound {
      hangPicture(keepThumbnail: variant != .opposite, thenForget: variant == .advised)
    }
  }
}
