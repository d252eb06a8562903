/** Where a link of a skill leads. `shown`: nowhere that we take people; its address is text. */
export type LinkTarget =
  | { readonly kind: "web"; readonly href: string; readonly host: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "shown"; readonly address: string };

/** Judges an address as browsers read it, so that a host is the one that would be asked (punycode, without the name of a user before `@`). */
export function linkTarget(address: string, files: ReadonlySet<string>): LinkTarget {
  const isAbsolute = /^\s*[a-z][a-z0-9+.-]*:/i.test(address);
  const url = isAbsolute && URL.canParse(address) ? new URL(address) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return { kind: "web", href: url.href, host: url.host };
  const path = isAbsolute ? undefined : pathOf(address);
  return path !== undefined && files.has(path) ? { kind: "file", path } : { kind: "shown", address };
}

/** The file of a skill that a relative address names, if it stays inside. */
function pathOf(address: string): string | undefined {
  const [written = ""] = address.split(/[?#]/, 1);
  if (/^[\\/]/.test(written) || written.includes("\\")) return undefined;
  const names: string[] = [];
  for (const name of decoded(written)?.split("/") ?? []) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // Not valid percent-encoding: it names no file.
  }
}
