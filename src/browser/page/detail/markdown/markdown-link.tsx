import type { Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { visibleText } from "../../parts/visible-text.ts";
import { linkTarget } from "./link-target.ts";
import { plainText } from "./plain-text.ts";

interface Files {
  readonly files: ReadonlySet<string>;
  readonly openFile: (path: string) => void;
}

/** A link that says where it leads: to a page of its own tab, or to a file of the skill. What leads elsewhere is text. */
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
          <bdi>{text}</bdi> {isItself(written, target.href) ? null : <span class="host">{target.host}</span>}
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

/** Images are never loaded, so that reading a skill asks no server and shows nothing that is not in its text. */
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
  const longest = 200;
  const shown = visibleText(address.slice(0, longest));
  return <code dir="ltr">{address.length > longest ? `${shown}…` : shown}</code>;
}

/** Whether a text is, letter by letter, the address that it leads to. */
function isItself(text: string, href: string): boolean {
  return text === href || `${text}/` === href;
}
