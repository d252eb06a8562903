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

/** Where the page is, seen from the built package and from the sources, which tests run. */
const places = ["browser/", "../dist/browser/"];

/** The document, the scripts and the styles of the page, by path. They have no secrets: everybody on this machine may read them. */
export function readPageFiles(directory = builtPage()): ReadonlyMap<string, CachedResponse> {
  const files = new Map<string, CachedResponse>();
  for (const name of readdirSync(directory).sort()) {
    const type = types[path.extname(name)];
    if (type !== undefined)
      files.set(`/${name}`, toCachedResponse(readFileSync(path.join(directory, name), "utf8"), type));
  }
  return files.set(pagePath, toCachedResponse(document, "text/html; charset=utf-8"));
}

function builtPage(): string {
  const found = places
    .map((place) => fileURLToPath(packageUrl(place)))
    .find((directory) => existsSync(path.join(directory, "page.js")));
  if (found === undefined)
    throw new SkillsError("UNREADABLE", "The page of the skill browser is missing; install acp-skills again.");
  return found;
}

/** Asks at once for what the script and the element ask for later. */
const document = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Skills</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
<link rel="modulepreload" href="/element.js">
<link rel="preload" as="style" href="/browser.css">
</head>
<body>
<noscript>The skill browser needs JavaScript. Without it: acp-skills list, acp-skills show NAME.</noscript>
</body>
</html>
`;
