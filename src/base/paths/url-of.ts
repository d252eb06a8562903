import { pathToFileURL } from "node:url";

/** The URL of a module: `urlOf(import.meta)`. In a CommonJS bundle, which has no such URL, the URL of the main program. */
export function urlOf({ url }: { readonly url?: string | undefined }): string {
  return url ?? pathToFileURL(process.argv[1] ?? "index.js").href;
}
