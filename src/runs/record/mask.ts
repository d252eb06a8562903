import { isSkillsError, SkillsError } from "../../errors.ts";
import type { Json, RunEnd, RunError } from "../../sandbox/sandbox.ts";
import { maskSecrets } from "../../secrets/mask-secrets.ts";
import type { MaskedStream } from "../../secrets/mask-secrets.ts";
import { toLongPlainText, toPlainText } from "./plain-text.ts";

/** Masks the secrets of one run in everything that leaves it (CONTRACT C-5.1). */
export interface Mask {
  readonly text: (text: string) => string;
  /** Control sequences are removed first: a secret interrupted by one is a secret again without it. */
  readonly plain: (text: string) => string;
  /** The same in slices, of bytes of any length. */
  readonly longPlain: (bytes: Buffer) => Promise<string>;
  readonly json: (value: Json) => Promise<Json>;
  readonly error: (error: RunError) => Promise<RunError>;
  readonly end: (end: RunEnd) => Promise<RunEnd>;
  /** For one stream of bytes; a secret may span two chunks. */
  stream(): MaskedStream;
  iterable(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Masks the values of `others` too. Throws SECRET_MISSING for a secret that cannot be masked. */
export function createMask(secrets: Readonly<Record<string, string>>, others: readonly string[] = []): Mask {
  if (Object.keys(secrets).length === 0 && others.length === 0) return openly;
  const { text, longText, json, openStream } = maskable(secrets, others);
  const plain: Mask["plain"] = (shown) => text(toPlainText(shown));
  const error: Mask["error"] = async ({ type, message, details }) => ({
    type: plain(type),
    message: plain(message),
    ...(details && { details: (await json(details)) as NonNullable<RunError["details"]> }),
  });
  return {
    text,
    plain,
    longPlain: async (bytes) => await longText(await toLongPlainText(bytes)),
    json,
    error,
    async end(end) {
      if (end.type === "raised") return { ...end, error: await error(end.error) };
      return end.type === "returned" ? { ...end, value: await json(end.value) } : end;
    },
    stream: openStream,
    async *iterable(content) {
      const masked = openStream();
      for await (const bytes of content) yield masked.push(bytes);
      yield masked.end();
    },
  };
}

function maskable(
  secrets: Readonly<Record<string, string>>,
  others: readonly string[],
): ReturnType<typeof maskSecrets> {
  try {
    return maskSecrets(secrets, others);
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "INVALID_OPTIONS") throw error;
    throw new SkillsError("SECRET_MISSING", error.message, { cause: error });
  }
}

const nothing = new Uint8Array(0);

/** For a run without secrets. */
const openly: Mask = {
  text: (text) => text,
  plain: toPlainText,
  longPlain: toLongPlainText,
  json: (value) => Promise.resolve(value),
  error: (error) => Promise.resolve(error),
  end: (end) => Promise.resolve(end),
  stream: () => ({ push: (bytes) => bytes, end: () => nothing }),
  iterable: (content) => content,
};
