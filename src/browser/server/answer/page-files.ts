import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type CachedResponse, toCachedResponse } from "../../../serve/cached-response.ts";
import { SkillsError } from "../../../base/errors.ts";
import { packageUrl } from "../../../base/paths/location.ts";
import { pagePath } from "../admission/admit-page.ts";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The directories of the page, for the built package and for the sources, which tests run. The first one with `page.js` is used. */
const directories = ["browser/", "../dist/browser/"];

/** The document, the scripts and the styles of the page, by path. They have no secrets, so every user of this machine may read them. */
export function readPageFiles(directory = builtPage()): ReadonlyMap<string, CachedResponse> {
  const files = new Map<string, CachedResponse>();
  for (const name of readdirSync(directory).sort()) {
    const type = types[path.extname(name)];
    if (type !== undefined)
      files.set(`/${name}`, toCachedResponse(readFileSync(path.join(directory, name), "utf8"), type));
  }
  // The document preloads what the script and the element request later.
  const document = readFileSync(packageUrl("browser/server/answer/page.html"), "utf8");
  return files.set(pagePath, toCachedResponse(document, "text/html; charset=utf-8"));
}

function builtPage(): string {
  const found = directories
    .map((candidate) => fileURLToPath(packageUrl(candidate)))
    .find((directory) => existsSync(path.join(directory, "page.js")));
  if (found === undefined)
    throw new SkillsError("UNREADABLE", "The page of the skill browser is missing; install acp-skills again.");
  return found;
}
