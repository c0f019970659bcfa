import Engine
import Patch

/// The names of the libraries' sub-patches among the kinds, and nothing of what is inside: for what reads a patch as it
/// stands in its file. Any thread.
package final class LibraryNames: DefinitionSource {
  private let names: any DefinitionSource

  /// `file`: path of the patch, beside which a library may be.
  package init(for file: String, kinds: KindCatalogue = KindRegistry.builtIn.catalogue) {
    names = DefinitionLibrary(for: file, kinds: kinds)
  }

  private init(of names: any DefinitionSource) { self.names = names }

  /// The kinds with the names of its libraries alone.
  package static func catalogue(of catalogue: KindCatalogue) -> KindCatalogue {
    catalogue.with(definitions: catalogue.definitions.map(LibraryNames.init(of:)))
  }

  /// The kinds with those names.
  package static func catalogue(for file: String) -> KindCatalogue {
    KindRegistry.builtIn.catalogue.with(definitions: LibraryNames(for: file))
  }

  package func place(of file: String) -> String { names.place(of: file) }

  package var library: [LibrarySubPatch] { names.library }

  package func libraryFile(named name: String) -> String? { names.libraryFile(named: name) }

  package func definition(of file: String) -> Definition { .unread }
}
