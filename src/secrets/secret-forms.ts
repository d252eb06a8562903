/** A part of an encoded value that is shorter would be found where the value is not. */
const shortestPart = 5;
const shortestLine = 8;

/**
 * The byte strings as which a value may appear where a program prints it without ill will: as it is, each long line of it, and
 * in JSON, URLs, hexadecimal and base64, there also in the midst of something longer. A program that wants to hide a value
 * can (reversed, letter by letter): masking prevents accidents, nothing else.
 */
export function toSecretForms(value: string): Uint8Array[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [
    value,
    ...lines.filter((line) => line.length >= shortestLine),
    ...jsonForms(value),
    ...urlForms(value),
    ...base64Forms(Buffer.from(value)),
    ...hexForms(Buffer.from(value)),
  ];
  return [...new Set(texts)].filter((text) => text !== "").map((text) => Buffer.from(text));
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  // As Python writes it, in lower case, and others in upper case.
  const lower = plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const upper = plain.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  const python = plain.replaceAll('\\"', '"');
  return [plain, lower, upper, plain.replaceAll("/", "\\/"), python, python.replaceAll("'", "\\'")];
}

/** What encoders disagree about: whether `/` and `!'()*` are left, whether a space is `+`, the case of the digits. */
function urlForms(value: string): string[] {
  const component = encodeURIComponent(Buffer.from(value).toString());
  const strict = component.replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const spared = [component, strict].flatMap((text) => [text, text.replaceAll("%2F", "/")]);
  const spaced = spared.flatMap((text) => [text, text.replaceAll("%20", "+")]);
  return spaced.flatMap((text) => [text, text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/** Whole, and what is the same wherever the value lies in longer bytes: after 0, 1 or 2 of a group of three. */
function base64Forms(value: Buffer): string[] {
  const whole = value.toString("base64");
  const parts = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), value]).toString("base64");
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor(((before + value.length) * 8) / 6);
    return encoded.slice(from, to);
  });
  const standard = [whole, whole.replace(/=+$/, ""), ...parts.filter((part) => part.length >= shortestPart)];
  return standard.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}

function hexForms(value: Buffer): string[] {
  const digits = value.toString("hex");
  return [digits, digits.toUpperCase()];
}
