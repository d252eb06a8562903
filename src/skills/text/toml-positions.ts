import { openTextPositions, toTextRange } from "./text-positions.ts";
import type { TextRange } from "./text-positions.ts";
import { findTomlPlaces } from "./toml-places.ts";
import type { TomlPlace } from "./toml-places.ts";

/**
 * Returns the positions of values or keys in TOML; else of the nearest enclosing value, else the start. The text must be valid TOML;
 * it is read once, on first use.
 */
export function openTomlPositions(
  text: string,
): (path: readonly (string | number)[], part?: "key" | "value") => TextRange {
  const positionOf = openTextPositions(text);
  let root: TomlPlace | undefined;
  return (path, part = "value") => {
    root ??= findTomlPlaces(text);
    let place = root;
    for (const segment of path) {
      const inner = place.inside?.get(String(segment));
      if (inner === undefined) break;
      place = inner;
    }
    const { offset, end } = (part === "key" ? place.key : undefined) ?? place;
    return toTextRange(positionOf, offset, end);
  };
}
