import type { Json } from "../../sandbox.ts";

/** A place where two values differ, as text for people; undefined where there is nothing. */
export interface JsonDifference {
  readonly where: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

const longestShown = 120;

/**
 * Where two JSON values differ, at most `limit` places; `where` starts with the given text and goes on as a JSON pointer. The order of
 * an object's keys is no difference. Recursive: values are at most 200 levels deep.
 */
export function jsonDifferences(
  where: string,
  before: Json | undefined,
  after: Json | undefined,
  limit: number,
): readonly JsonDifference[] {
  const found: JsonDifference[] = [];
  const compare = (place: string, one: Json | undefined, other: Json | undefined): void => {
    if (found.length >= limit || one === other) return;
    if (typeof one === "string" && typeof other === "string") {
      found.push(textDifference(place, one, other));
      return;
    }
    const [left, right] = [entriesOf(one), entriesOf(other)];
    if (left === undefined || right === undefined || Array.isArray(one) !== Array.isArray(other)) {
      found.push({ where: place, before: toShown(one), after: toShown(other) });
      return;
    }
    for (const key of new Set([...left.keys(), ...right.keys()]))
      compare(`${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, left.get(key), right.get(key));
  };
  compare(where, before, after);
  return found;
}

/** The first line in which two texts differ, from shortly before that. */
export function textDifference(where: string, before: string, after: string): JsonDifference {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const line = left.findIndex((text, index) => text !== right[index]);
  const at = line === -1 ? left.length : line;
  const [one, other] = [left[at], right[at]];
  const place = left.length === 1 && right.length === 1 ? where : `${where} line ${at + 1}`;
  if (one === undefined || other === undefined) return { where: place, before: toShown(one), after: toShown(other) };
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const start = one.length <= longestShown && other.length <= longestShown ? 0 : Math.max(0, same - 20);
  const from = (text: string): string => (start === 0 ? text : `…${text.slice(start)}`);
  return { where: place, before: toShown(from(one)), after: toShown(from(other)) };
}

function entriesOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

/** Short, as compact JSON. */
function toShown(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  return json.length <= longestShown ? json : `${json.slice(0, longestShown - 1)}…`;
}
