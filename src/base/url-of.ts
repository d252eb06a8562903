import { pathToFileURL } from "node:url";

/** The URL of a module: `urlOf(import.meta)`. In a CommonJS bundle, which has none, that of the program that was started. */
export function urlOf({ url }: { readonly url?: string | undefined }): string {
  return url ?? pathToFileURL(process.argv[1] ?? "index.js").href;
}
