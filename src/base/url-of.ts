import { pathToFileURL } from "node:url";

/**
 * Where a module lies: `urlOf(import.meta)`. A bundle in the form of CommonJS does not know; all of it lies where the program does that
 * was started.
 */
export function urlOf({ url }: { readonly url?: string | undefined }): string {
  return url ?? pathToFileURL(process.argv[1] ?? "index.js").href;
}
