import type { OfferedSkill } from "../../skills/skill.ts";
import type { HashedSkill } from "../../skills/hash/hash-skill.ts";
import type { CalledSkill } from "../../runs/plan/dependencies.ts";
import type { DeclaredArgument } from "../../skills/manifest/argument-type.ts";
import { permissionsOf } from "../../skills/manifest/permissions.ts";
import { maxListedFiles } from "../../tools/input/limits.ts";
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

const labelWidth = 15;

/** Human-readable text for one skill: its fields, inputs, permissions and files, its problems, and its instructions. */
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
  for (const [name, input] of Object.entries(skill.manifest?.inputs ?? {})) {
    yield field("input", `${name}: ${describeInput(input)}`);
  }
  const permissions = listPermissions(permissionsOf(skill));
  if (permissions.length > 0 || skill.kind === "action") yield field("permissions", permissions.join(", ") || "none");
  for (const called of calls) yield field("calls", `${called.skill} (${listPermissions(called).join(", ")})`);
  yield field("digest", hashed.digest);
  const width = files.reduce((widest, { path }) => Math.max(widest, path.length), 0);
  for (const { path, size_bytes: size } of files) yield field("file", `${padToWidth(path, width)}  ${size} bytes`);
  if (files.length < hashed.files.length) yield field("file", `… and ${hashed.files.length - files.length} more`);
  for (const { severity, code, file, line, column, message, fix } of problems) {
    yield field(severity, `${shownPath(file, cwd)}:${line}:${column} ${code}: ${message}. ${fix}`);
  }
  yield `\n${safeLines(body).trim()}\n`;
}

function listPermissions({ network, secrets, project }: Omit<CalledSkill, "skill">): string[] {
  return [
    ...network.map((host) => `network ${host}`),
    ...secrets.map((name) => `secret ${name}`),
    ...(project === "none" ? [] : [`project ${project}`]),
  ];
}

/** For example `integer, default 3, one of 1, 3. How many rows.` */
function describeInput({ type, required, default: fallback, enum: choices, description }: DeclaredArgument): string {
  const facts = [
    type,
    ...(required === true ? ["required"] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
    ...(choices === undefined ? [] : [`one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`]),
  ];
  return `${facts.join(", ")}${description === undefined ? "" : `. ${description}`}`;
}
