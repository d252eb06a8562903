import * as methods from "../../wire/methods.ts";
import type { Prefix } from "./envelope.ts";

const message = '{"jsonrpc":"2.0",';
const innerMethod = '"method":"';
const innerParams = '","params":{';
const end = "}}}\n";

/** How an envelope with a notification begins, as every serialiser writes it that adds no blanks. */
const heads: Readonly<Record<Prefix, string>> = {
  "": `${message}"method":"${methods.proxySuccessor}","params":{${innerMethod}`,
  _: `${message}"method":"_${methods.proxySuccessor}","params":{${innerMethod}`,
};

/**
 * Takes the envelope off a notification in the form that steady traffic has, and adds its pieces to `pieces`; false for any other line,
 * which must then be read. `text` holds bytes, one a character, so that cutting it changes nothing.
 */
export function unwrapSteady(text: string, from: number, to: number, prefix: Prefix, pieces: string[]): boolean {
  const head = heads[prefix];
  if (!text.startsWith(head, from) || !text.startsWith(end, to - end.length)) return false;
  const method = from + head.length;
  const methodEnd = text.indexOf('"', method);
  if (!text.startsWith(innerParams, methodEnd) || !isPlain(text, method, methodEnd)) return false;
  // Where the params end early, or the envelope, a brace has a comma behind it.
  const last = to - end.length;
  for (let at = text.indexOf("}", methodEnd); at < last; at = text.indexOf("}", at + 1)) {
    const next = text.charCodeAt(at + 1);
    if (next === comma || next === space || next === tab || next === carriageReturn) return false;
  }
  pieces.push(message, text.slice(method - innerMethod.length, to - 2), "\n");
  return true;
}

/** Not for methods that mean something between the conductor and us, or that have an escape, which may hide one. */
function isPlain(text: string, from: number, to: number): boolean {
  if (text.charCodeAt(from) === dollar || text.startsWith("proxy/", from) || text.startsWith("_proxy/", from))
    return false;
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === backslash) return false;
  return true;
}

const [backslash, dollar, comma, space, tab, carriageReturn] = [92, 36, 44, 32, 9, 13];
