import { type Amendment, type Items, notThere, type Path } from "./amend.ts";
import { type Container, type Place, readContainer, wholePlace } from "./json-places.ts";

interface Edit extends Place {
  readonly text: string;
}

/**
 * Applies amendments to the JSON text of a message: everything else keeps its exact bytes, so that integers above 2^53 survive.
 * Amendments must not overlap. Throws if a path does not exist.
 */
export function amendText(text: string, amendments: readonly Amendment[]): string {
  const find = openFinder(text);
  const edits = amendments.map((amendment) => toEdit(find, amendment)).sort((a, b) => a.from - b.from);
  const parts: string[] = [];
  let copied = 0;
  for (const { from, to, text: replacement } of edits) {
    parts.push(text.slice(copied, from), replacement);
    copied = to;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** Follows paths. */
interface Finder {
  /** The place of a value; of duplicate keys the last counts, as in JSON.parse. */
  readonly place: (path: Path) => Place | undefined;
  readonly container: (path: Path) => Container | undefined;
}

/** Each container is read once, however many paths lead through it. */
function openFinder(text: string): Finder {
  const whole = wholePlace(text);
  const containers = new Map<number, Container | undefined>();

  function containerAt({ from }: Place): Container | undefined {
    if (!containers.has(from)) containers.set(from, readContainer(text, from));
    return containers.get(from);
  }
  function place(path: Path): Place | undefined {
    let found: Place | undefined = whole;
    for (const key of path) {
      if (found === undefined) return undefined;
      const container = containerAt(found);
      if (container?.kind === "object") found = container.items.findLast((item) => item.key === key);
      else found = typeof key === "number" ? container?.items[key] : undefined;
    }
    return found;
  }
  return {
    place,
    container(path) {
      const found = place(path);
      return found && containerAt(found);
    },
  };
}

function toEdit(find: Finder, amendment: Amendment): Edit {
  const { path } = amendment;
  const key = path.at(-1);
  if ("value" in amendment) {
    const text = JSON.stringify(amendment.value);
    const place = find.place(path);
    if (place !== undefined) return { ...place, text };
    const parent = find.container(path.slice(0, -1));
    if (parent?.kind !== "object" || key === undefined) throw notThere(path);
    return insertLast(parent, `${JSON.stringify(key)}:${text}`);
  }
  const list = find.container(path);
  if (list?.kind !== "array") throw notThere(path);
  return spliceItems(list, amendment);
}

function spliceItems(list: Container, { at, remove, insert }: { at: number; remove: number; insert: Items }): Edit {
  const texts = toTexts(insert);
  const first = list.items[at];
  const last = list.items[at + remove - 1];
  if (remove > 0) {
    if (first === undefined || last === undefined || texts === "") throw new RangeError("nothing to replace");
    return { from: first.from, to: last.to, text: texts };
  }
  if (texts === "") return { from: list.from, to: list.from, text: "" };
  if (first !== undefined) return { from: first.from, to: first.from, text: `${texts},` };
  return insertLast(list, texts);
}

function toTexts(items: Items): string {
  return "json" in items ? Buffer.from(items.json).toString() : items.map((item) => JSON.stringify(item)).join(",");
}

function insertLast({ from, items }: Container, text: string): Edit {
  const last = items.at(-1);
  if (last === undefined) return { from: from + 1, to: from + 1, text };
  return { from: last.to, to: last.to, text: `,${text}` };
}
