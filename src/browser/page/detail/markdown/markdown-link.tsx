import type { Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { visibleText } from "../../components/foreign-text.tsx";
import { decodeSegment } from "../../state/location.ts";

interface Files {
  readonly files: ReadonlySet<string>;
  readonly openFile: (path: string) => void;
}

/** A link to a web page, which opens in its own tab and shows its host, or to a file of the skill. Any other link is text. */
export function markdownLink(
  { href, text: written, autolink }: Tokens.Link,
  inside: ComponentChildren,
  { files, openFile }: Files,
): JSX.Element {
  const address = autolink === true ? href : plainText(href);
  const target = linkTarget(address, files);
  const text = written.trim() === "" ? visibleText(address) : inside;
  switch (target.kind) {
    case "web":
      return (
        <a href={target.href} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" dir="auto">
          <bdi>{text}</bdi> {![written, `${written}/`].includes(target.href) && <span class="host">{target.host}</span>}
        </a>
      );
    case "file":
      return (
        <button type="button" class="link" onClick={() => openFile(target.path)}>
          <bdi>{text}</bdi>
        </button>
      );
    case "shown":
      return (
        <span class="address">
          <bdi>{text}</bdi> {address === "" ? null : <Address address={address} />}
        </span>
      );
  }
}

/** Images are never loaded, so that reading a skill contacts no server and shows only what its text says. */
export function markdownImage({ href, text }: Tokens.Image): JSX.Element {
  const alternative = visibleText(plainText(text)).trim();
  return (
    <span class="image">
      <span>Image not loaded{alternative === "" ? "" : ": "}</span>
      <bdi>{alternative}</bdi> <Address address={plainText(href)} />
    </span>
  );
}

function Address({ address }: { readonly address: string }): JSX.Element {
  const maxLength = 200;
  const shown = visibleText(address.slice(0, maxLength));
  return <code dir="ltr">{address.length > maxLength ? `${shown}…` : shown}</code>;
}

/** The target of a link of a skill. `shown`: neither kind of target, so the address is shown as text. */
type LinkTarget =
  | { readonly kind: "web"; readonly href: string; readonly host: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "shown"; readonly address: string };

/** Parses an address as browsers do, so the host shown is the host contacted (in punycode). A URL with user information is no link. */
export function linkTarget(address: string, files: ReadonlySet<string>): LinkTarget {
  const isAbsolute = /^\s*[a-z][a-z0-9+.-]*:/i.test(address);
  const url = isAbsolute && URL.canParse(address) ? new URL(address) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return { kind: "web", href: url.href, host: url.host };
  const path = isAbsolute ? undefined : pathOf(address);
  return path !== undefined && files.has(path) ? { kind: "file", path } : { kind: "shown", address };
}

/** The path of the file that a relative address names, if it stays inside the skill. */
function pathOf(address: string): string | undefined {
  const [written = ""] = address.split(/[?#]/, 1);
  if (/^[\\/]/.test(written) || written.includes("\\")) return undefined;
  const names: string[] = [];
  for (const name of decodeSegment(written, "..").split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Decodes the character references of Markdown: numbers, and the few names that texts about code need. Other names stay as written. */
export function plainText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hexadecimal, name) => {
    if (typeof name === "string") return named[name] ?? whole;
    const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
    const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}
