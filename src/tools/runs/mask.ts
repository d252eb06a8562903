import type { Json, RunEnd, RunError } from "../../sandbox/sandbox.ts";
import { openSecretMask } from "../../secrets/mask-secrets.ts";

/** Hides the secrets of one run in everything that leaves it (CONTRACT C-5.1). */
export interface Mask {
  text(text: string): string;
  json(value: Json): Json;
  error(error: RunError): RunError;
  end(end: RunEnd): RunEnd;
  /** For one stream of bytes; a secret may lie across two of its pieces. */
  stream(): MaskedStream;
  iterable(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

interface MaskedStream {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

export function openMask(secrets: readonly string[]): Mask {
  if (secrets.length === 0) return openly;
  const { text, stream } = openSecretMask(secrets);

  function json(value: Json): Json {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(String(value)) === String(value) ? value : text(String(value));
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner as Json)]));
  }
  const error = ({ type, message, details }: RunError): RunError => ({
    type: text(type),
    message: text(message),
    ...(details && { details: json(details) as NonNullable<RunError["details"]> }),
  });
  return {
    text,
    json,
    error,
    end(end) {
      if (end.type === "raised") return { ...end, error: error(end.error) };
      return end.type === "returned" ? { ...end, value: json(end.value) } : end;
    },
    stream,
    async *iterable(content) {
      const masked = stream();
      for await (const bytes of content) yield masked.push(bytes);
      yield masked.end();
    },
  };
}

const nothing = new Uint8Array(0);

/** For a run without secrets. */
const openly: Mask = {
  text: (text) => text,
  json: (value) => value,
  error: (error) => error,
  end: (end) => end,
  stream: () => ({ push: (bytes) => bytes, end: () => nothing }),
  iterable: (content) => content,
};
