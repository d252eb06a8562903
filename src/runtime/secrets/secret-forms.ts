/** Shorter parts of an encoded value would match unrelated text. */
const shortestPart = 5;
const shortestLine = 8;
const shortestHost = 8;

/**
 * All byte strings as which a program may print a value by accident: unchanged, each long line of it, and escaped or encoded for JSON,
 * Python, CSV, shells, HTML, URLs, host names, hexadecimal and base64 (also inside longer data). A hostile program can encode a value
 * in other ways: masking prevents accidents only.
 */
export function toSecretForms(value: string): Uint8Array[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [
    value,
    ...lines.filter((line) => line.length >= shortestLine),
    ...jsonForms(value),
    ...pythonForms(value),
    ...quotedForms(value),
    ...htmlForms(value),
    ...hostForms(value),
    ...urlForms(value),
    ...base64Forms(Buffer.from(value)),
    ...hexForms(Buffer.from(value)),
  ];
  return [...new Set(texts)].filter((text) => text !== "").map((text) => Buffer.from(text));
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  // Lower case as in Python; other languages use upper case.
  const lower = plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const upper = plain.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
  const python = plain.replaceAll('\\"', '"');
  return [plain, lower, upper, plain.replaceAll("/", "\\/"), python, python.replaceAll("'", "\\'")];
}

/** As in `repr(str)`, `ascii(str)` and `repr(bytes)`, with either kind of quotes. */
function pythonForms(value: string): string[] {
  const short = new Map([
    ["\\", "\\\\"],
    ["\n", "\\n"],
    ["\r", "\\r"],
    ["\t", "\\t"],
  ]);
  const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
  const escape = (code: number): string =>
    code < 0x100 ? `\\x${hex(code, 2)}` : code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  const written = (text: string, shown: RegExp): string =>
    Array.from(text, (unit) => short.get(unit) ?? (shown.test(unit) ? unit : escape(unit.codePointAt(0) ?? 0))).join(
      "",
    );
  const texts = [
    written(value, /[^\0-\x1f\x7f-\xa0\xad]/),
    written(value, /[ -~]/),
    written(Buffer.from(value).toString("latin1"), /[ -~]/),
  ];
  return texts.flatMap((text) => [text, text.replaceAll("'", "\\'"), text.replaceAll('"', '\\"')]);
}

/** With quotes doubled (CSV, SQL, YAML) or escaped for shells. */
function quotedForms(value: string): string[] {
  const ofShells = [`'"'"'`, `'\\''`].map((quote) => value.replaceAll("'", quote));
  return [value.replaceAll('"', '""'), value.replaceAll("'", "''"), ...ofShells];
}

/** With the different escapes of quotes. */
function htmlForms(value: string): string[] {
  const plain = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const double = ['"', "&quot;", "&#34;", "&#x22;"].map((quote) => plain.replaceAll('"', quote));
  return ["'", "&#x27;", "&#39;", "&apos;"].flatMap((quote) => double.map((text) => text.replaceAll("'", quote)));
}

/** In a host name, which is lower-cased. Not for short values, which could be words. */
function hostForms(value: string): string[] {
  return value.length >= shortestHost && /^[a-z0-9._-]+$/i.test(value) ? [value.toLowerCase()] : [];
}

/** Encoders differ in `/` and `!'()*`, in `+` for a space, and in the case of the digits. */
function urlForms(value: string): string[] {
  const component = encodeURIComponent(Buffer.from(value).toString());
  const strict = component.replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  const spared = [component, strict].flatMap((text) => [text, text.replaceAll("%2F", "/")]);
  const spaced = spared.flatMap((text) => [text, text.replaceAll("%20", "+")]);
  return spaced.flatMap((text) => [text, text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/** The whole value, and its invariant part inside longer data, for each of three alignments. */
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
