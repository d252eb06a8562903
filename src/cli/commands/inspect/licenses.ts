import { statSync } from "node:fs";
import path from "node:path";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import { diskSkillFiles } from "../../../skills/files.ts";
import { type SkillLicense, findLicense } from "../../../skills/licenses.ts";
import { type OfferedSkill, isSkillFileName } from "../../../skills/skill.ts";
import { type PolicyRefusal, createPolicies } from "../../../runtime/trust.ts";
import { directoryFault, givenPolicy } from "../../arguments/values.ts";
import { listing } from "../../arguments/shared-options.ts";
import { defineCommand, usageError, exit } from "../../command.ts";
import { createListing } from "../../listing.ts";
import { csv, table } from "../../report/table.ts";
import { counted } from "../../../base/text/code-points.ts";
import { jsonLines } from "../../report/json-output.ts";
import { safeText } from "../../report/safe-text.ts";
import type { ProgressOutput } from "../../report/terminal.ts";

export const command = defineCommand({
  positionals: { name: "PATH", minimum: 0, maximum: Infinity, values: "files" },
  options: { ...listing, csv: { type: "boolean", help: "Print CSV for spreadsheets." } },
  examples: ["licenses", "licenses ./skills --csv", "licenses --json"],
  notes: [
    "PATH is a SKILL.md, a skill's directory, or a directory that contains skills. Default: the skills of a session.",
    "declared: the license field names it; unknown: the field says something else, or only a license file is there;",
    "  unspecified: there is neither. The texts of license files are not read: FILES lists them.",
    "Exits with 1 if a policy denies a license or cannot be used.",
  ],
  async run({ positionals: paths, options }, terminal) {
    if (options.csv === true && options.json === true) throw usageError("--csv and --json exclude each other");
    const given = paths.map((text) => toDirectory(text, terminal.cwd));
    const faults = given.flatMap((directory) => directoryFault("PATH", directory));
    for (const fault of faults) terminal.note(fault);
    const readable = given.filter((directory) => directoryFault("PATH", directory).length === 0);
    const roots = { ...options, skills: [...readable, ...(options.skills ?? [])], "no-default-roots": true };
    const { directory, catalog, status } = await createListing(paths.length === 0 ? options : roots, terminal);
    const log = (_level: string, message: string): void => terminal.note(message);
    const policies = createPolicies({ given: givenPolicy(), home: terminal.home, log });
    const policy = policies.policyFor(directory);
    const isPolicyUsed = policies.layersFor(directory).every((layer) => layer.policy !== undefined);
    const { skills } = catalog.snapshot;
    const rows = await runInSlices(readRows(skills, (license) => policy.deniesLicense(license), terminal));
    terminal.progress.done();
    if (options.json === true) await terminal.print(jsonLines({ skills: rows.map(toJson) }));
    else if (options.csv === true) await terminal.print(csv(csvHeading, rows.map(toCsvCells)));
    else if (rows.length > 0) await terminal.print(table(heading, rows.map(toCells), terminal));
    terminal.note(summarize(rows));
    const isAllowed = isPolicyUsed && rows.every(({ denied }) => denied === undefined);
    return faults.length > 0 ? exit.usage : status !== exit.done ? status : isAllowed ? exit.done : exit.found;
  },
});

interface Row {
  readonly offered: OfferedSkill;
  readonly found: SkillLicense;
  readonly denied: PolicyRefusal | undefined;
}

/** The directory of a PATH, which may be a SKILL.md. */
function toDirectory(given: string, cwd: string): string {
  const target = path.resolve(cwd, given);
  const isFile =
    isSkillFileName(path.basename(target)) && statSync(target, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? path.dirname(target) : target;
}

function* readRows(
  skills: readonly OfferedSkill[],
  denies: (license: string) => PolicyRefusal | undefined,
  { progress }: ProgressOutput,
): Steps<readonly Row[]> {
  const source = { files: diskSkillFiles() };
  const rows: Row[] = [];
  for (const offered of skills) {
    progress.show(`reading the license of ${offered.skill.slug}`);
    const found = findLicense(source, offered.skill);
    rows.push({ offered, found, denied: denies(found.license ?? found.status) });
    yield;
  }
  return rows;
}

function toJson({ offered: { skill, sources }, found, denied }: Row): object {
  return { name: skill.slug, version: skill.version, ...found, ...(denied && { denied }), path: skill.file, sources };
}

const csvHeading = ["name", "version", "license", "status", "declared", "files", "denied", "path"];

function toCsvCells({ offered: { skill }, found, denied }: Row): readonly string[] {
  const { license = "", status, declared = "", files } = found;
  return [skill.slug, skill.version, license, status, declared, files.join(", "), denied?.why ?? "", skill.file];
}

const heading = ["NAME", "LICENSE", "STATUS", "POLICY", "FILES"];

function toCells({ offered, found, denied }: Row): readonly string[] {
  const evidence = [...(denied === undefined ? [] : [denied.why]), ...describeEvidence(found)].join("; ");
  const judged = denied === undefined ? "" : "denied";
  return [offered.skill.slug, safeText(found.license ?? ""), found.status, judged, safeText(evidence)];
}

/** The license files, after the text of a field that names no license. */
function describeEvidence({ license, declared, files }: SkillLicense): readonly string[] {
  return [...(declared !== undefined && license === undefined ? [`"${declared}" is stated`] : []), ...files];
}

/** A summary such as `12 skills: 10 declared, 2 unspecified; 1 denied by policy`. */
function summarize(rows: readonly Row[]): string {
  const counts = new Map<string, number>();
  for (const { found } of rows) counts.set(found.status, (counts.get(found.status) ?? 0) + 1);
  const parts = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  const denied = rows.filter((row) => row.denied !== undefined).length;
  return `${counted(rows.length, "skill")}${parts === "" ? "" : `: ${parts}`}${denied === 0 ? "" : `; ${denied} denied by policy`}`;
}
