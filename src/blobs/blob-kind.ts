const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
const pattern = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|${quoted}))*$`);
const base64Suffix = / *; *base64$/i;
const longest = 127;

/** What was asked for when a blob was put. */
export interface BlobKind {
  /** `type/subtype[;params]`, without the flag. */
  readonly kind: string;
  /** Whether `;base64` stood at the end: the content is to be decoded before it is put (CONTRACT C-4.2). */
  readonly base64: boolean;
}

/** Reads a kind: RFC 9110's media type in printable ASCII, at most 127 characters, the flag included. Undefined for anything else. */
export function parseBlobKind(text: string): BlobKind | undefined {
  if (text.length > longest) return undefined;
  const kind = text.replace(base64Suffix, "");
  return pattern.test(kind) ? { kind, base64: kind.length < text.length } : undefined;
}
