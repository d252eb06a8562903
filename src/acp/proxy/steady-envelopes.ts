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
  if (closesEarly(text, methodEnd, to - end.length)) return false;
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

/**
 * Whether the params of the message, or the envelope, may end before `to`. There a brace has a comma or a blank behind it, and what follows
 * opens an object outside of them: it is looked for from the end, where a quote with no backslash before it begins or ends a string.
 */
function closesEarly(text: string, from: number, to: number): boolean {
  let candidate = text.indexOf("}", from);
  while (candidate < to && !isFollowed(text.charCodeAt(candidate + 1))) candidate = text.indexOf("}", candidate + 1);
  let depth = 0;
  for (let at = to - 1; at > candidate; at--) {
    const character = text.charCodeAt(at);
    if (character === closeBrace) depth += 1;
    else if (character === openBrace) depth -= 1;
    else if (character === quote) at = startOfString(text, at);
    if (depth < 0) return true;
  }
  return false;
}

function isFollowed(next: number): boolean {
  return next === comma || next === space || next === tab || next === carriageReturn;
}

/** -1 if there is none. */
function startOfString(text: string, close: number): number {
  let at = close;
  do at = text.lastIndexOf('"', at - 1);
  while (at > 0 && isEscaped(text, at));
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

const [quote, comma, openBrace, closeBrace, backslash, dollar] = [34, 44, 123, 125, 92, 36];
const [tab, carriageReturn, space] = [9, 13, 32];
