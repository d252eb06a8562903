import { type NotDocument, type ParsedDocument, parseDocument } from "../../../../src/sources/reader/read-listing.ts";

type Listing = Exclude<ParsedDocument, { form: "marketplace" }>;

/** Reads a document to its end, as JSON if it is not a text. */
export function readDocument(document: unknown, url = "https://example.com/index.json"): ParsedDocument | NotDocument {
  const steps = parseDocument(typeof document === "string" ? document : JSON.stringify(document), url);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same for one that lists skills. */
export function readListing(document: unknown, url?: string): Listing {
  const read = readDocument(document, url);
  if ("why" in read || read.form === "marketplace") throw new Error(JSON.stringify(read));
  return read;
}

export const digest = `sha256:${"0f".repeat(32)}`;
