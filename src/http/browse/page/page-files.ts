import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { keepAnswer } from "../../answer/kept-answer.ts";
import type { KeptAnswer } from "../../answer/kept-answer.ts";
import { SkillsError } from "../../../errors.ts";
import { pagePath } from "../admission/admit-page.ts";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** As built, and for tests that run the sources. */
const places = ["../../../browser/", "../../../../dist/browser/"];

/** The document, the scripts and the styles of the page, by path. They have no secrets: everybody on this machine may read them. */
export function readPageFiles(directory = builtPage()): ReadonlyMap<string, KeptAnswer> {
  const files = new Map<string, KeptAnswer>();
  const styles: string[] = [];
  for (const name of readdirSync(directory).sort()) {
    const type = types[path.extname(name)];
    if (type === undefined) continue;
    files.set(`/${name}`, keepAnswer(new Uint8Array(readFileSync(path.join(directory, name))), type));
    if (name.endsWith(".css")) styles.push(`<link rel="stylesheet" href="/${name}">\n`);
  }
  return files.set(pagePath, keepAnswer(documentWith(styles.join("")), "text/html; charset=utf-8"));
}

function builtPage(): string {
  const found = places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((directory) => existsSync(path.join(directory, "page.js")));
  if (found === undefined)
    throw new SkillsError("UNREADABLE", "The page of the skill browser is missing; install acp-skills again.");
  return found;
}

function documentWith(styles: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Skills</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
${styles}<script type="module" src="/page.js"></script>
</head>
<body>
<noscript>The skill browser needs JavaScript. Without it: acp-skills list, acp-skills show NAME.</noscript>
</body>
</html>
`;
}
