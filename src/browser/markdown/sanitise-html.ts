import DOMPurify, { type Config } from "dompurify";

type Policy = NonNullable<Config["TRUSTED_TYPES_POLICY"]>;
interface PolicyFactory {
  createPolicy(name: string, rules: { createHTML(html: string): string }): Policy;
}

/** Exactly what {@link parseMarkdown} makes. Nothing here loads, runs, styles, submits, or can be named. */
const allowed: Config = {
  ALLOWED_TAGS: [
    ...["h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "ul", "ol", "li"],
    ...["strong", "em", "del", "kbd", "sub", "sup", "a", "img", "input"],
    ...["table", "thead", "tbody", "tr", "th", "td"],
  ],
  // `src` and `href` are only read; what is shown is made anew. `type` and `checked` are those of task lists.
  ALLOWED_ATTR: ["href", "title", "src", "alt", "align", "start", "type", "checked"],
  // Every scheme is kept, so that a reader is shown the address that a link or an image has. None of them ends up in the page.
  ALLOW_UNKNOWN_PROTOCOLS: true,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  SANITIZE_NAMED_PROPS: true,
  RETURN_DOM_FRAGMENT: true,
};

let policy: Policy | null | undefined;

/**
 * The allowed part of HTML, as nodes that are in no document. Throws a TypeError where the page's content security policy does not let
 * `acp-skills` make HTML.
 */
export function sanitiseHtml(html: string): DocumentFragment {
  policy ??= createPolicy();
  return DOMPurify.sanitize(html, { ...allowed, RETURN_DOM_FRAGMENT: true, TRUSTED_TYPES_POLICY: policy });
}

/** The page's one Trusted Types policy. It stays in this file: only DOMPurify, which parses in an inert document, makes HTML with it. */
function createPolicy(): Policy | null {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  return trustedTypes?.createPolicy("acp-skills", { createHTML: (html) => html }) ?? null;
}
