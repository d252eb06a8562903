import * as methods from "../../../wire/methods.ts";
import type { Prefix } from "./envelope.ts";

const message = '{"jsonrpc":"2.0",';
const innerMethod = '"method":"';
const innerParams = '","params":{';
const end = "}}}\n";

/** The beginning of an envelope with a notification, as serialisers write it that add no blanks. */
const heads: Readonly<Record<Prefix, string>> = {
  "": `${message}"method":"${methods.proxySuccessor}","params":{${innerMethod}`,
  _: `${message}"method":"_${methods.proxySuccessor}","params":{${innerMethod}`,
};

/** The maximum length of a remembered beginning. */
const beginningLimit = 1_024;

/**
 * Unwraps notifications in the form of steady traffic, in which a line begins like the line before it. The bytes up to the last opening
 * bracket are therefore compared instead of read: equal bytes lead to the same depth.
 */
export class SteadyEnvelopes {
  #prefix: Prefix = "";
  #beginning = "";
  /** The nesting depth of the message's params at the end of the beginning. */
  #depth = 0;

  /**
   * Adds the pieces of an unwrapped line to `pieces`. Returns false for a line of another form, or that may not be passed on: the caller
   * must read such a line. `text` has one character per byte, so that slices of it are exact.
   */
  unwrap(text: string, from: number, to: number, prefix: Prefix, pieces: string[]): boolean {
    if (!text.startsWith(end, to - end.length)) return false;
    const behind = from + this.#beginning.length;
    // Comparing slices is much faster than startsWith.
    const isKnown = behind > from && prefix === this.#prefix && text.slice(from, behind) === this.#beginning;
    const params = isKnown ? behind : paramsOf(text, from, prefix);
    if (params === -1) return false;
    let depth = isKnown ? this.#depth : 0;
    let opened = -1;
    let openedDepth = 0;
    for (let at = params; at < to; at++) {
      const character = text.charCodeAt(at);
      if (character === quote) {
        at = closeOfString(text, at);
        if (at === -1) return false;
      } else if (character === openBrace || character === openBracket) {
        depth += 1;
        opened = at;
        openedDepth = depth;
      } else if (character === closeBrace || character === closeBracket) {
        depth -= 1;
        if (depth > 0) continue;
        if (at !== to - end.length) return false;
        pieces.push(message, text.slice(from + heads[prefix].length - innerMethod.length, to - 2), "\n");
        if (!isKnown && opened - from < beginningLimit) {
          this.#prefix = prefix;
          // The beginning is copied, because a slice would retain the whole text.
          this.#beginning = Buffer.from(text.slice(from, opened + 1), "latin1").toString("latin1");
          this.#depth = openedDepth;
        }
        return true;
      }
    }
    return false;
  }
}

/** Finds the index at which the params of the message begin; -1 for a line of another form. */
function paramsOf(text: string, from: number, prefix: Prefix): number {
  const head = heads[prefix];
  if (!text.startsWith(head, from)) return -1;
  const method = from + head.length;
  const methodEnd = text.indexOf('"', method);
  const isSteady = text.startsWith(innerParams, methodEnd) && isPlain(text, method, methodEnd);
  return isSteady ? methodEnd + innerParams.length - 1 : -1;
}

/** Whether a method is neither for the hop to the conductor, nor has an escape, which may hide such a method. */
function isPlain(text: string, from: number, to: number): boolean {
  if (text.charCodeAt(from) === dollar || text.startsWith("proxy/", from) || text.startsWith("_proxy/", from))
    return false;
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === backslash) return false;
  return true;
}

/** Finds the index of the quote that ends the string; -1 if there is none. */
function closeOfString(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

const [quote, backslash, dollar] = [34, 92, 36];
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];
