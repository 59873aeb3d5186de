// A feature begins, hears of some fixes, and ends. Then ten seconds pass.
import SampleSupport

@MainActor
func tellModelStory(_ listening: TrackModel.Listening) async {
  let sensor = SharedSensor.shared
  let log = LoopLog()
  await settle()
  Agent.mark("start")

  weak var ended: TrackModel?
  do {
    let model = TrackModel(listening, log: log)
    model.start(sensor)
    await settle()
    sensor.tick()
    await settle()
    ended = model
  }
  let clock = ContinuousClock()
  let end = clock.now
  await settle()
  let timeToRest = end.duration(to: clock.now)

  let receivedBefore = ended?.received ?? 0
  let passesBefore = log.passes
  for _ in 1...10 {
    sensor.tick()
    await settle()
  }
  print(
    "after the end: \(LiveCounts.summary) received=\((ended?.received ?? 0) - receivedBefore)",
    "passes=\(log.passes - passesBefore) ended=\(log.hasEnded ? 1 : 0)",
    "on=\(sensor.hardware.isOn ? 1 : 0)")
  if log.hasEnded { print("the loop had ended within \(timeToRest)") }
  Agent.mark("end")
}
