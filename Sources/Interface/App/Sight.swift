import Patch
import Session

/// Summary of a scene's appearance: an equal one need not be redrawn.
struct Sight: Equatable {
  private var status: SessionStatus
  private var plan: Int
  private var trace: Int
  private var undo: String?
  private var redo: String?
  private var isModified: Bool
  private var fileName: String
  private var nodes: Int
  private var surroundings: Int
  private var hasKeyRelease: Bool
  private var mapPlaces: [MapName: Int]
  private var changedByOthers: Set<NodeID>
  private var stateChanges: Int
  private var preview: String
  /// Something sounds or fades.
  let isMoving: Bool

  init(_ scene: Scene) {
    status = scene.status.shown
    plan = scene.report.plan
    trace = scene.trace.last?.id ?? -1
    undo = scene.undo
    redo = scene.redo
    isModified = scene.isModified
    fileName = scene.fileName
    nodes = scene.patch.nodes.count
    surroundings = scene.surroundings
    hasKeyRelease = scene.hasKeyRelease
    mapPlaces = scene.mapPlaces
    changedByOthers = scene.changedByOthers
    stateChanges = scene.report.stateChanges
    preview = scene.preview
    // Its change triggers one more drawing, so that a meter can fall to nothing.
    isMoving = scene.report.isMoving
  }
}
