import Engine
import Patch
import Screen

extension GraphDrawing {
  /// The part of the graph that the window shows, with its levels.
  struct Window {
    /// In the diagram's coordinates.
    let area: Rect
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
      self.area = area
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
      let boxes = Still.Boxes(
        picture: version, area: area, focus: focus, marked: state.marked, changed: scene.changedByOthers,
        sounding: sounding)
      still = Still(boxes: boxes, looks: looks)
    }
  }

  /// Facts that decide about all cells besides levels.
  struct Still: Equatable, Sendable {
    struct Boxes: Equatable, Sendable {
      let picture: PictureVersion
      let area: Rect
      let focus: NodeID?
      let marked: Set<NodeID>
      let changed: Set<NodeID>
      let sounding: [Bool]

      static func == (a: Boxes, b: Boxes) -> Bool {
        a.picture === b.picture && a.area == b.area && a.focus == b.focus && a.sounding == b.sounding
          && a.marked == b.marked && a.changed == b.changed
      }
    }

    let boxes: Boxes
    let looks: [CableLook]
  }
}

/// Identity of a picture's boxes and cables.
final class PictureVersion: Sendable {}
