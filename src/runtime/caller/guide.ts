import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { joinPath } from "../../base/paths/at-real-path.ts";
import { SkillsError } from "../../base/errors.ts";
import type { SkillSource } from "../../skills/files.ts";
import type { Manifest } from "../../skills/manifest.ts";
import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import { defaultTimeoutMs, maxOutputBytes, maxTimeoutMs } from "../runs/run-limits.ts";
import { packageUrl } from "../../base/paths/location.ts";
import {
  type ToolName,
  defaultPageSize,
  defaultPreviewBytes,
  maxPageSize,
  maxReadFileBytes,
  maxReplyBytes,
  toolNames,
} from "../../wire/tools.ts";
import type { ToolLimits } from "../blobs/blob-rules.ts";

const directory = "/skills.protocol.guide";

const manifest = Object.freeze({
  name: "skills.protocol.guide",
  version: "0.1.0",
  description: "How to find skills, read and run them, and work with blobs. Read this before using any other skill.",
  kind: "instruction",
  namespace: "skills",
  tags: ["guide", "skills"],
} satisfies Manifest);

const skill: Skill = Object.freeze({
  ...manifest,
  slug: "skills-protocol-guide",
  metadata: Object.freeze({}),
  dialect: "skills-protocol",
  directory,
  file: `${directory}/SKILL.md`,
  manifest,
});

/** The built-in skill. Its text depends on the caller: {@link createGuides}. */
export const guideSkill: OfferedSkill = Object.freeze({
  skill,
  sources: Object.freeze([]),
  problems: Object.freeze([]),
  versions: Object.freeze([skill]),
});

/** The guide for one set of tools. */
export interface Guide {
  /** SKILL.md without its frontmatter. */
  readonly body: string;
  readonly source: SkillSource;
}

/** Creates the guides for sets of tools; each is read and rendered at its first use. */
export function createGuides(limits: ToolLimits): (tools: readonly ToolName[]) => Guide {
  const guides = new Map<string, Guide>();
  let template: string | undefined;
  return (tools) => {
    const key = tools.join(" ");
    let guide = guides.get(key);
    if (guide === undefined) {
      template ??= readTemplate();
      const text = renderGuide(template, tools, limits);
      guide = { body: text.replace(/^---\n[^]*?\n---\n+/, ""), source: toSource(Buffer.from(text)) };
      guides.set(key, guide);
    }
    return guide;
  };
}

function readTemplate(): string {
  const file = fileURLToPath(packageUrl("runtime/caller/guide/SKILL.md"));
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const message =
      `The guide of acp-skills is missing: ${file} does not exist. Bundlers do not include it: mark acp-skills as external, ` +
      `or copy dist/runtime/caller/guide/SKILL.md of the package there.`;
    throw new SkillsError("UNREADABLE", message, { cause, facts: { path: file } });
  }
}

/**
 * Renders the guide for one caller: fills in the limits, and removes lines about tools that the caller lacks and headings without lines.
 * Pure.
 */
export function renderGuide(template: string, tools: readonly ToolName[], limits: ToolLimits): string {
  const missing = toolNames.filter((name) => !tools.includes(name));
  const numbers = numbersOf(limits);
  return template
    .split("\n")
    .filter((line) => !missing.some((name) => line.includes(`\`${name}\``)))
    .join("\n")
    .replace(/^## .*\n\n(?=\n*(?:## |$(?![^])))/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/\{\{(\w+)\}\}/g, (whole, name: string) => numbers[name] ?? whole);
}

const kibibyte = 1024;
const mebibyte = kibibyte * kibibyte;
const hourMs = 60 * 60 * 1000;

function numbersOf({ maxBlobBytes, blobTtlMs }: ToolLimits): Readonly<Record<string, string>> {
  return {
    defaultPageSize: String(defaultPageSize),
    maxPageSize: String(maxPageSize),
    maxReplyKiB: String(maxReplyBytes / kibibyte),
    maxFileMiB: String(maxReadFileBytes / mebibyte),
    maxBlobMiB: rounded(maxBlobBytes / mebibyte),
    defaultPreviewBytes: String(defaultPreviewBytes),
    blobTtlHours: rounded(blobTtlMs / hourMs),
    maxOutputKiB: String(maxOutputBytes / kibibyte),
    defaultTimeoutSeconds: String(defaultTimeoutMs / 1000),
    maxTimeoutMs: String(maxTimeoutMs),
  };
}

/** Rounds down. */
function rounded(value: number): string {
  return String(value >= 10 ? Math.floor(value) : Math.floor(value * 100) / 100);
}

/** Creates the guide's directory, with SKILL.md as its only file. */
function toSource(content: Buffer): SkillSource {
  const file = joinPath(directory, "SKILL.md");
  const size = content.length;
  const sha256 = hash("sha256", content, "hex");
  return {
    files: {
      list: () => [{ name: "SKILL.md", kind: "file", link: false }],
      head: (_file, limit) => ({ bytes: content.subarray(0, limit), whole: size < limit }),
      resolve: (target) => (target === file || target === directory ? target : undefined),
    },
    bytes: {
      stamp: () => ({ size, version: sha256 }),
      head: (_file, limit) => ({ bytes: content.subarray(0, limit), size, version: sha256 }),
      sha256: () => sha256,
    },
  };
}
