import type { ComponentChildren, JSX } from "preact";
import { linkTarget } from "./link-target.ts";

export interface Surroundings {
  /** Paths that relative links may lead to. */
  readonly files: ReadonlySet<string>;
  readonly openFile: (path: string) => void;
  /** The level of the heading that the text stands under. */
  readonly under: number;
}

/** Elements that are made again without any attribute. What is not named here or below is only its text. */
const plain = new Set("p br hr blockquote ul li strong em del code kbd sub sup thead tbody tr td".split(" "));

/**
 * Builds what sanitising left anew, element by element: nothing of the skill but text, a checked address and a number reaches the page. Headings
 * keep their order, and none is above the page's own.
 */
export function markdownNodes(fragment: DocumentFragment, around: Surroundings): ComponentChildren {
  let level = around.under;
  return children(fragment);

  function children(parent: ParentNode & Node): ComponentChildren[] {
    return Array.from(parent.childNodes, (node) =>
      node instanceof Element ? element(node) : node.nodeType === Node.TEXT_NODE ? node.nodeValue : null,
    );
  }

  function element(node: Element): ComponentChildren {
    const Name = node.localName as "p";
    if (plain.has(Name)) return /^[bh]r$/.test(Name) ? <Name /> : <Name dir={direction(Name)}>{children(node)}</Name>;
    switch (node.localName) {
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6":
        return heading(node);
      case "ol":
        return <ol start={Number(node.getAttribute("start")) || 1}>{children(node)}</ol>;
      case "pre":
        return <pre tabIndex={0}>{children(node)}</pre>;
      case "table":
        return (
          <div class="table" role="group" aria-label="Table" tabIndex={0}>
            <table>{children(node)}</table>
          </div>
        );
      case "th":
        return node.textContent.trim() === "" ? <td /> : <th scope="col">{children(node)}</th>;
      case "input":
        return node.hasAttribute("checked") ? "☑ " : "☐ ";
      case "img":
        return image(node);
      case "a":
        return link(node);
      default:
        return children(node);
    }
  }

  function heading(node: Element): ComponentChildren {
    if (node.textContent.trim() === "") return children(node);
    const wanted = around.under + Number(node.localName.slice(1));
    level = Math.min(wanted, level + 1, 6);
    const Heading = `h${String(level)}` as "h2";
    return (
      <Heading dir="auto" data-level={node.localName.slice(1)}>
        {children(node)}
      </Heading>
    );
  }

  function link(node: Element): ComponentChildren {
    const address = node.getAttribute("href") ?? "";
    const target = linkTarget(address, around.files);
    const text = node.textContent.trim() === "" ? address : children(node);
    switch (target.kind) {
      case "web":
        return (
          <a href={target.href} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" dir="auto">
            <bdi>{text}</bdi> {isItself(node.textContent, target.href) ? null : <span class="host">{target.host}</span>}
          </a>
        );
      case "file":
        return (
          <button type="button" class="link" onClick={() => around.openFile(target.path)}>
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
}

/** Images are never loaded, so that reading a skill asks no server and shows nothing that is not in its text. */
function image(node: Element): JSX.Element {
  const alternative = node.getAttribute("alt")?.trim() ?? "";
  return (
    <span class="image">
      <span>Image not loaded{alternative === "" ? "" : ": "}</span>
      <bdi>{alternative}</bdi> <Address address={node.getAttribute("src") ?? ""} />
    </span>
  );
}

function Address({ address }: { readonly address: string }): JSX.Element {
  const longest = 200;
  return <code dir="ltr">{address.length > longest ? `${address.slice(0, longest)}…` : address}</code>;
}

function direction(name: string): "auto" | undefined {
  return /^(?:p|li|td|blockquote)$/.test(name) ? "auto" : undefined;
}

/** Whether a text is, letter by letter, the address that it leads to. */
function isItself(text: string, href: string): boolean {
  return text === href || `${text}/` === href;
}
