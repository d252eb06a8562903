const plain = /^[\x20-\x5b\x5d-\x7e]*$/;

/**
 * Why a skill that contains a file or directory of this name has no digest, as the end of a sentence that starts with the name; undefined
 * if it may have one. A digest covers lines of text that end with a path, so a name must be one name on one line for everyone who reads it.
 */
export function fileNameFault(name: string): string | undefined {
  if (plain.test(name)) return undefined;
  if (/\p{Cs}/u.test(name)) return "is not UTF-8";
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return "contains a control character or a line separator";
  if (name.includes("\\")) return "contains a backslash";
  const isSplit = /[/\\]/.test(name.normalize("NFKC"));
  return isSplit ? "contains a character that some systems turn into a path separator" : undefined;
}
