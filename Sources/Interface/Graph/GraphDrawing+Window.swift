import Engine
import Patch
import Screen

extension GraphDrawing {
  /// The part of the graph that the window shows, with its levels.
  struct Window {
    /// Places of the boxes and of the cables in sight.
    let boxes: [Int]
    let wires: [Int]
    /// The node whose box is focused.
    let focus: NodeID?
    /// Peaks of the boxes in sight, and those of them that sound.
    private(set) var peaks: [[Float]] = []
    private(set) var sounding: [Bool] = []
    /// Appearances of the cables in sight.
    private(set) var looks: [CableLook] = []
    /// All that the boxes and cables show besides levels; nil while a cable fades, since it shows the time left.
    private(set) var still: Still?

    init(_ picture: GraphPicture, _ scene: Scene, _ state: ViewState, _ area: Rect) {
      boxes = picture.frames.indices.filter { picture.frames[$0].intersects(area) }
      wires = picture.wires.indices.filter { picture.diagram.routes[$0].crosses(area) }
      focus = state.focus.map(picture.shown)
      for index in boxes {
        let peaks = picture.boxes[index].peaks(scene)
        self.peaks.append(peaks)
        sounding.append(peaks.contains(where: Meter.isAudible))
      }
      looks = wires.map { GraphDrawing.look(picture.wires[$0], scene) }
      guard let version = picture.version, !wires.contains(where: { picture.wires[$0].isFading(scene) })
      else { return }
      still = Still(
        picture: version, area: area, focus: focus, marked: state.marked, changed: scene.changedByOthers,
        sounding: sounding, looks: looks)
    }
  }

  /// Facts that decide about all cells besides levels.
  struct Still: Equatable, Sendable {
    let picture: PictureVersion
    let area: Rect
    let focus: NodeID?
    let marked: Set<NodeID>
    let changed: Set<NodeID>
    let sounding: [Bool]
    let looks: [CableLook]

    static func == (a: Still, b: Still) -> Bool {
      a.picture === b.picture && a.area == b.area && a.focus == b.focus && a.sounding == b.sounding
        && a.looks == b.looks && a.marked == b.marked && a.changed == b.changed
    }
  }
}

/// Identity of a picture's boxes and cables.
final class PictureVersion: Sendable {}
