import { type Amendment, type Items, notThere, type Path } from "../messages/amend.ts";
import { type JsonValueRange, readArray, readObject, readString, wholeValue } from "./json-ranges.ts";

interface Edit extends JsonValueRange {
  readonly json: Uint8Array;
}

/**
 * Applies amendments to a message as a line of JSON. All other bytes stay as they are, so that integers above 2^53 survive. Amendments
 * must not overlap. Throws RangeError if a path does not exist.
 */
export function amendLine(line: Buffer, amendments: readonly Amendment[]): Buffer {
  const find = openFinder(line);
  const edits = amendments.map((amendment) => toEdit(find, amendment)).sort((a, b) => a.from - b.from || a.to - b.to);
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { from, to, json } of edits) {
    parts.push(line.subarray(copied, from), json);
    copied = to;
  }
  return Buffer.concat([...parts, line.subarray(copied)]);
}

/** Creates a finder that follows paths. Each container is read once, even if several paths lead through it. */
function openFinder(line: Buffer) {
  const whole = wholeValue(line);
  const containers = new Map<number, Container | undefined>();

  function containerAt({ from }: JsonValueRange): Container | undefined {
    if (!containers.has(from)) containers.set(from, readContainer(line, from));
    return containers.get(from);
  }
  /** Finds the range of a value. Of duplicate keys the last counts, as in JSON.parse. */
  function rangeAt(path: Path): JsonValueRange | undefined {
    let found: JsonValueRange | undefined = whole;
    for (const key of path) {
      if (found === undefined) return undefined;
      const container = containerAt(found);
      if (container?.kind === "object") found = container.items.findLast((item) => item.key === key);
      else found = typeof key === "number" ? container?.items[key] : undefined;
    }
    return found;
  }
  return {
    rangeAt,
    container(path: Path) {
      const found = rangeAt(path);
      return found && containerAt(found);
    },
  };
}

function toEdit(find: ReturnType<typeof openFinder>, amendment: Amendment): Edit {
  const { path } = amendment;
  const key = path.at(-1);
  if ("value" in amendment) {
    const json = Buffer.from(JSON.stringify(amendment.value));
    const range = find.rangeAt(path);
    if (range !== undefined) return { ...range, json };
    const parent = find.container(path.slice(0, -1));
    if (parent?.kind !== "object" || key === undefined) throw notThere(path);
    return insertLast(parent, Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), json]));
  }
  const list = find.container(path);
  if (list?.kind !== "array") throw notThere(path);
  return spliceItems(list, amendment);
}

function spliceItems(list: Container, { at, remove, insert }: { at: number; remove: number; insert: Items }): Edit {
  const json = "json" in insert ? insert.json : Buffer.from(insert.map((item) => JSON.stringify(item)).join(","));
  const first = list.items[at];
  const last = list.items[at + remove - 1];
  if (remove > 0) {
    if (first === undefined || last === undefined || json.length === 0) throw new RangeError("nothing to replace");
    return { from: first.from, to: last.to, json };
  }
  if (json.length === 0) return { from: list.from, to: list.from, json };
  if (first !== undefined) return { from: first.from, to: first.from, json: Buffer.concat([json, comma]) };
  return insertLast(list, json);
}

const comma = Buffer.from(",");

function insertLast(container: Container, json: Uint8Array): Edit {
  const { from, items, isFilled } = container;
  const last = items.at(-1);
  container.isFilled = true;
  const index = last?.to ?? from + 1;
  return { from: index, to: index, json: isFilled ? Buffer.concat([comma, json]) : json };
}

/** The values directly inside an object or array, in order. */
type Container = {
  readonly from: number;
  /** Whether the container has a value, or an amendment has inserted one. */
  isFilled: boolean;
} & (
  | { readonly kind: "array"; readonly items: readonly JsonValueRange[] }
  | { readonly kind: "object"; readonly items: readonly (JsonValueRange & { readonly key: string | undefined })[] }
);

/** Finds the object or array that begins at index `from`; undefined for any other value. */
function readContainer(line: Buffer, from: number): Container | undefined {
  const fields: (JsonValueRange & { readonly key: string | undefined })[] = [];
  if (readObject(line, from, (key, value) => fields.push({ ...value, key: readString(line, key) })) !== -1)
    return { kind: "object", from, items: fields, isFilled: fields.length > 0 };
  const items: JsonValueRange[] = [];
  const isArray = readArray(line, from, (item) => items.push(item)) !== -1;
  return isArray ? { kind: "array", from, items, isFilled: items.length > 0 } : undefined;
}
