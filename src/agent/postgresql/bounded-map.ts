/** Immutable maps that stay small: what is put last stays longest. */

/**
 * A copy with `key` put last; at the capacity the entry that was put longest ago leaves. Costs O(capacity), which
 * is why the maps are small.
 */
export function withEntry<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  key: Key,
  value: Value,
  capacity: number,
): ReadonlyMap<Key, Value> {
  const copy = new Map(map);
  copy.delete(key);
  copy.set(key, value);
  for (const oldest of copy.keys()) {
    if (copy.size <= capacity) break;
    copy.delete(oldest);
  }
  return copy;
}

/** A copy without `key`; the map itself where it has none. */
export function withoutEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
