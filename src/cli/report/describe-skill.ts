import type { OfferedSkill } from "../../skills/skill.ts";
import type { HashedSkill } from "../../skills/hash/hash-skill.ts";
import type { CalledSkill } from "../../runs/plan/dependencies.ts";
import { maxListedFiles } from "../../tools/limits.ts";
import { padToWidth } from "./display-width.ts";
import { safeLines, safeText } from "./safe-text.ts";
import { shownPath } from "./shown-path.ts";
import type { Terminal } from "./terminal.ts";

export interface Description {
  readonly offered: OfferedSkill;
  readonly hashed: HashedSkill;
  /** Skills with permissions that its code can call. */
  readonly calls: readonly CalledSkill[];
  readonly body: string;
}

const labelWidth = 14;

/** One skill for people: its fields, its files, what is wrong with it, and its instructions. */
export function* describeSkill(
  { offered, hashed, calls, body }: Description,
  { cwd, paint }: Pick<Terminal, "cwd" | "paint">,
): Iterable<string> {
  const { skill, sources, versions, problems } = offered;
  const files = hashed.files.slice(0, maxListedFiles);
  const field = (label: string, value: string | undefined): string =>
    value === undefined || value === "" ? "" : `${paint("dim", label.padEnd(labelWidth))}${safeText(value)}\n`;

  yield field("name", skill.name);
  if (skill.slug !== skill.name) yield field("slug", skill.slug);
  yield field("version", skill.version);
  yield field("kind", skill.kind);
  yield field("namespace", skill.namespace);
  yield field("description", skill.description);
  yield field("license", skill.license);
  yield field("compatibility", skill.compatibility);
  yield field("allowed tools", skill.allowedTools?.join(", "));
  yield field("tags", skill.tags.join(", "));
  for (const [key, value] of Object.entries(skill.metadata)) yield field("metadata", `${key}: ${value}`);
  yield field("path", shownPath(skill.file, cwd));
  for (const source of sources) yield field("source", shownPath(source, cwd));
  if (versions.length > 1) yield field("versions", versions.map(({ version }) => version).join(", "));
  for (const { skill: called, network, secrets, project } of calls) {
    const uses = [
      ...network,
      ...secrets.map((name) => `secret ${name}`),
      ...(project === "none" ? [] : [`project ${project}`]),
    ];
    yield field("calls", `${called}, which may use: ${uses.join(", ")}`);
  }
  yield field("digest", hashed.digest);
  const width = files.reduce((widest, { path }) => Math.max(widest, path.length), 0);
  for (const { path, size_bytes: size } of files) yield field("file", `${padToWidth(path, width)}  ${size} bytes`);
  if (files.length < hashed.files.length) yield field("file", "… and more");
  for (const { severity, code, file, line, column, message, fix } of problems) {
    yield field(severity, `${shownPath(file, cwd)}:${line}:${column} ${code}: ${message}. ${fix}`);
  }
  yield `\n${safeLines(body).trim()}\n`;
}
