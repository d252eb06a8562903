import { indexLimits } from "./index-limits.ts";
import { isLoopbackHost } from "../../source.ts";

/**
 * The address that a document links to, resolved against the one that answered; a sentence about what is wrong with it in `why`. A document
 * that came over the network can neither lead back to http nor to this machine.
 */
export function resolveDocumentLink(link: string, base: string): { readonly url: string } | { readonly why: string } {
  if (link.length > indexLimits.urlLength) return { why: `a URL is longer than ${indexLimits.urlLength} characters` };
  let url: URL;
  try {
    url = new URL(link, base);
  } catch {
    return { why: "a URL is not valid" };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return { why: `a URL is neither http nor https` };
  if (url.username !== "" || url.password !== "") return { why: "a URL has user information" };
  const from = new URL(base);
  if (url.protocol === "http:" && from.protocol === "https:") return { why: "a URL is http, in a document of https" };
  if (isLoopbackHost(url.hostname) && !isLoopbackHost(from.hostname)) return { why: "a URL leads to this machine" };
  url.hash = "";
  return { url: url.href };
}
