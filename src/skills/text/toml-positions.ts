import { openTextPositions } from "./text-positions.ts";
import type { TextPosition } from "./text-positions.ts";
import { findTomlPlaces } from "./toml-places.ts";
import type { TomlPlace } from "./toml-places.ts";

/**
 * Tells where the values of a TOML text stand: their line and column, else those of the nearest thing around them, else
 * the start. Meant for text that a parser has accepted, which it goes through once, when first asked.
 */
export function openTomlPositions(text: string): (path: readonly (string | number)[]) => TextPosition {
  const positionOf = openTextPositions(text);
  let root: TomlPlace | undefined;
  return (path) => {
    root ??= findTomlPlaces(text);
    let place = root;
    for (const segment of path) {
      const inner = place.inside?.get(String(segment));
      if (inner === undefined) break;
      place = inner;
    }
    return positionOf(place.offset);
  };
}
