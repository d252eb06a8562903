import * as methods from "../../../wire/methods.ts";
import { isText, type JsonValueRange, readArray, readObject, readString } from "../json-ranges.ts";

/** The fields of a message that decide its route, as ranges of JSON values in its line. */
export interface MessageFields {
  readonly id: JsonValueRange | undefined;
  readonly method: JsonValueRange | undefined;
  readonly params: JsonValueRange | undefined;
}

/** The prefix of the methods between a conductor and its proxies: none in the RFD, `_` in the Rust SDK before the RFD. */
export type Prefix = "" | "_";

const encode = (value: string): Buffer => Buffer.from(JSON.stringify(value));
const keys = { id: encode("id"), method: encode("method"), params: encode("params") };
const successors: readonly [Prefix, Buffer][] = [
  ["", encode(methods.proxySuccessor)],
  ["_", encode(`_${methods.proxySuccessor}`)],
];
const [version, idKey, methodKey, paramsKey] = ['{"jsonrpc":"2.0",', '"id":', '"method":', '"params":'].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer, Buffer];
const [comma, closeMessage, closeEnvelope, noParams] = [",", "}\n", "}}\n", "null"].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer, Buffer];

/** Reads the fields of a line that is one object; undefined for any other line. */
export function readMessageFields(line: Buffer): MessageFields | undefined {
  const [fields, end] = fieldsAt(line, 0);
  if (end === -1) return undefined;
  return line.toString("latin1", end).trim() === "" ? fields : undefined;
}

/** Reads the elements of a line that is one array; undefined for any other line. */
export function readBatch(line: Buffer): readonly Buffer[] | undefined {
  const elements: Buffer[] = [];
  const end = readArray(line, 0, (element) => elements.push(cut(line, element)));
  return end === -1 || line.toString("latin1", end).trim() !== "" ? undefined : elements;
}

/** Reads the fields of the message in an envelope; undefined if the message has no method. The envelope's `_meta` is for this hop only. */
export function readInner(line: Buffer, { params }: MessageFields): MessageFields | undefined {
  if (params === undefined) return undefined;
  const [inner, end] = fieldsAt(line, params.from);
  return end === -1 || inner.method === undefined ? undefined : inner;
}

function fieldsAt(line: Buffer, from: number): [MessageFields, number] {
  const fields: { -readonly [Name in keyof MessageFields]: MessageFields[Name] } = {
    id: undefined,
    method: undefined,
    params: undefined,
  };
  // Of duplicate keys the last counts, as in JSON.parse.
  const end = readObject(line, from, (key, value) => {
    if (isText(line, key, keys.method)) fields.method = value;
    else if (isText(line, key, keys.params)) fields.params = value;
    else if (isText(line, key, keys.id)) fields.id = value;
  });
  return [fields, end];
}

/** Whether a line is an envelope, by the name of its method. */
export function isEnvelope(line: Buffer, method: JsonValueRange): boolean {
  if (successors.some(([, text]) => isText(line, method, text))) return true;
  // The method is parsed, because some serialisers escape slashes.
  const name = readString(line, method);
  return name === methods.proxySuccessor || name === `_${methods.proxySuccessor}`;
}

/** Wraps a message in an envelope for the successor. The bytes of `id`, `method` and `params` stay as they are. */
export function wrap(line: Buffer, { id, method, params }: MessageFields, prefix: Prefix): Buffer {
  const name = successors.find(([of]) => of === prefix)?.[1];
  if (method === undefined || name === undefined) return line;
  return Buffer.concat([
    version,
    ...(id === undefined ? [] : [idKey, cut(line, id), comma]),
    methodKey,
    name,
    comma,
    paramsKey,
    Buffer.from("{"),
    methodKey,
    cut(line, method),
    comma,
    paramsKey,
    params === undefined ? noParams : cut(line, params),
    closeEnvelope,
  ]);
}

/** Unwraps the message in an envelope. Returns the pieces of its line, with the id of the envelope. */
export function unwrap(line: Buffer, id: JsonValueRange | undefined, { method, params }: MessageFields): Buffer[] {
  if (method === undefined) return [];
  const pieces = [version];
  if (id !== undefined) pieces.push(idKey, cut(line, id), comma);
  pieces.push(methodKey, cut(line, method));
  if (params !== undefined && !isText(line, params, noParams)) pieces.push(comma, paramsKey, cut(line, params));
  pieces.push(closeMessage);
  return pieces;
}

/** Replaces the method of a line. Returns the pieces of the new line. */
export function rename(line: Buffer, method: JsonValueRange, name: string): Buffer[] {
  return [line.subarray(0, method.from), encode(name), line.subarray(method.to)];
}

function cut(line: Buffer, { from, to }: JsonValueRange): Buffer {
  return line.subarray(from, to);
}
