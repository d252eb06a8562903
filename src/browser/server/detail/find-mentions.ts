import type { SkillSource } from "../../../skills/files.ts";
import { type WalkedFile, orNothing } from "../../../skills/hash.ts";
import type { Steps } from "../../../base/promises/slices.ts";

/** What code mentions: not what it does. */
export interface Mentions {
  /** Hosts in URLs. */
  readonly hosts: readonly string[];
  /** Names of environment variables. */
  readonly environment: readonly string[];
}

const mostFiles = 64;
const mostBytes = 256 * 1024;
const mostNames = 200;
const piece = 16 * 1024;

const code = /\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|ps1|php|go|rs)$/i;

const urls = /\b(?:https?|wss?):\/\/([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?)(?![A-Za-z0-9])/g;
const variables = [
  /\bos\.environ(?:\.get\(|\[)\s{0,8}["']([A-Za-z_]\w{0,127})["']/g,
  /\b(?:os\.)?getenv\(\s{0,8}["']([A-Za-z_]\w{0,127})["']/g,
  /\bprocess\.env\.([A-Za-z_]\w{0,127})/g,
  /\bprocess\.env\[\s{0,8}["']([A-Za-z_]\w{0,127})["']/g,
  /\bENV(?:\.fetch\(|\[)\s{0,8}["']([A-Za-z_]\w{0,127})["']/g,
];
/** Matches names in capitals in shell scripts; others are mostly variables of the script. */
const shellVariable = /\$\{?([A-Z][A-Z0-9_]{2,127})\b/g;
const shellOwn = /(?:^|[\s;])(?:(?:export|local|readonly|declare)\s{1,8})?([A-Z][A-Z0-9_]{2,127})=/gm;

/** Reads the first code files of a skill, a limited part of each. */
export function* findMentions(walked: readonly WalkedFile[], source: SkillSource): Steps<Mentions> {
  const hosts = new Set<string>();
  const environment = new Set<string>();
  for (const { path, real } of walked.filter((file) => code.test(file.path)).slice(0, mostFiles)) {
    const bytes = orNothing(() => source.bytes.head(real, mostBytes))?.bytes;
    if (bytes === undefined || bytes.includes(0)) continue;
    const text = Buffer.from(bytes).toString("utf8");
    const isShell = /\.(?:sh|bash|zsh)$/i.test(path);
    const own = isShell ? new Set(Array.from(text.matchAll(shellOwn), ([, name = ""]) => name)) : undefined;
    yield;
    // A name at the border of two pieces is found in the overlap.
    for (let at = 0; at < text.length; at += piece) {
      const part = text.slice(at, at + piece + 512);
      for (const [, host = ""] of part.matchAll(urls))
        if (host.includes(".") || host === "localhost") add(hosts, host.toLowerCase());
      for (const form of variables) for (const [, name = ""] of part.matchAll(form)) add(environment, name);
      if (own !== undefined)
        for (const [, name = ""] of part.matchAll(shellVariable)) if (!own.has(name)) add(environment, name);
      yield;
    }
  }
  return { hosts: [...hosts].sort(), environment: [...environment].sort() };
}

function add(names: Set<string>, name: string): void {
  if (names.size < mostNames) names.add(name);
}
