/** A map of at most `limit` entries: beyond that, the oldest is evicted. Setting a key again does not change its position. */
export class LimitedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    if (this.size <= this.#limit) return this;
    for (const oldest of this.keys()) {
      this.delete(oldest);
      break;
    }
    return this;
  }
}

/** Groups items by key, in their order: Map.groupBy, which Node 20 does not have. */
export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
