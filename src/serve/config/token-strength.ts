/** What a token needs at least, so that nobody can guess it. */
const leastTokenBits = 128;

const fewestCharacters = 8;
const longest = 512;

/**
 * Why a token is refused, by its length and alphabet: a clause that never contains the token. Undefined if it could be random enough; 22
 * characters of base64url or 32 hexadecimal digits are.
 */
export function tokenFault(token: string, form: "header" | "path"): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(token)) return "is empty, or has characters other than printable ASCII without blanks";
  if (form === "path" && !/^[A-Za-z0-9_-]+$/.test(token)) return "has characters other than letters, digits, _ and -";
  if (token.length > longest) return `is longer than ${longest} characters`;
  const bits = Math.floor(token.length * Math.log2(alphabetOf(token)));
  if (bits < leastTokenBits) return `has at most ${bits} bits of randomness; it needs ${leastTokenBits}`;
  return new Set(token).size < fewestCharacters ? `has fewer than ${fewestCharacters} different characters` : undefined;
}

function alphabetOf(token: string): number {
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(token)) return /[a-f]/i.test(token) ? 16 : 10;
  const hasBothCases = /[a-z]/.test(token) && /[A-Z]/.test(token);
  // Random text of this alphabet may lack its digits by chance.
  return hasBothCases ? 64 : 26 + (/\d/.test(token) ? 10 : 0);
}
