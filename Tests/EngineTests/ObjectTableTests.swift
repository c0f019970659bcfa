import TestSupport
import Testing

@testable import Engine

/// Objects found by keys of their own.
@Suite struct ObjectTableTests {
  private final class Item: TableObject {
    /// Many keys have the same hash, or one that begins next to it.
    struct Key: Hashable {
      var number: Int
      func _rawHashValue(seed: Int) -> Int { number / 3 % 40 * 1021 }
    }

    let tableKey: Key
    init(_ number: Int) { tableKey = Key(number: number) }
  }

  @Test(arguments: searchSeeds(1, 2, 3)) func aTableFindsWhatADictionaryWould(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var table = ObjectTable<Item>()
    var model: [Item.Key: Item] = [:]
    #expect(table[Item.Key(number: 1)] == nil)
    table.remove(Item.Key(number: 1))
    if Bool.random(using: &random) { table.reserveCapacity(Int.random(in: 0...300, using: &random)) }
    for round in 0..<4000 {
      // The table grows, shrinks to nothing and grows again.
      let item = Item(Int.random(in: 0..<(round / 500 % 2 == 0 ? 400 : 30), using: &random))
      if Int.random(in: 0..<8, using: &random) < (round / 700 % 2 == 0 ? 5 : 1) {
        table.insert(item)
        model[item.tableKey] = item
      } else {
        table.remove(item.tableKey)
        model[item.tableKey] = nil
      }
      if round % 1300 == 1299 {
        table.removeAll()
        model = [:]
      }
      #expect(table.count == model.count)
      if round % 50 == 0 {
        for number in 0..<400 {
          let key = Item.Key(number: number)
          #expect(table[key] === model[key], "round \(round), key \(number)")
        }
        #expect(Set(table.values.map(ObjectIdentifier.init)) == Set(model.values.map(ObjectIdentifier.init)))
      }
    }
  }
}
