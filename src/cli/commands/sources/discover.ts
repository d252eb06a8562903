import { useOfSkill } from "../../../sources/invoke.ts";
import { allowPrivate, json, token } from "../../arguments/shared-options.ts";
import { defineCommand, choice, exit } from "../../command.ts";
import { parseSource, type Source } from "../../../sources/source.ts";
import { withReader } from "./install/source-options.ts";
import { table } from "../../report/table.ts";
import { counted } from "../../../base/text/code-points.ts";
import { safeText } from "../../report/safe-text.ts";
import { type Terminal, noteSome, type ProgressOutput } from "../../report/terminal.ts";
import type { RemoteIndex, RemoteSkill, SourceLister } from "../../../sources/reader.ts";

/** The maximum number of skills whose descriptors are read, to show what can be done with them. */
const describedSkills = 200;
const shownProblems = 10;

export const command = defineCommand({
  positionals: { name: "SOURCE", minimum: 1, maximum: 1 },
  options: {
    type: choice(["plugin", "api", "knowledge", "task"], "Only skills of this type."), // prettier-ignore
    "allow-private": allowPrivate,
    token,
    json,
  },
  examples: ["discover example.com", "discover acme/skills", "discover http://127.0.0.1:7331 --type api --json"],
  notes: [
    "SOURCE: a domain or URL, OWNER/REPO[@REF] of GitHub, git:URL[#REF], registry:URL, npm:PACKAGE[@RANGE], npm:node_modules, oci://HOST/REPO[:TAG], mcp:URL or mcp:COMMAND. Nothing is installed.",
    "USE: install (acp-skills add), invoke (as a service of its publisher), or cannot, and why.",
    "Exits with 1 if nothing is found, with 3 if an address could not be read.",
  ],
  async run({ options, positionals: [text = ""] }, terminal) {
    const source = parseSource(text);
    const { type, json } = options;
    return await withReader(options, [source], terminal.cwd, terminal, async (reader, signal) => {
      const index = await read(source, type, reader, signal, terminal);
      if (json === true) await terminal.printJson(toJson(index));
      else await printTable(index, type, terminal);
      return index.isPartial === true ? exit.unable : index.skills.length === 0 ? exit.found : exit.done;
    });
  },
});

/** Reads the skills that a source lists, or those of one type; the first 200 with their descriptors. */
async function read(
  source: Source,
  type: string | undefined,
  reader: SourceLister,
  signal: AbortSignal,
  { progress }: ProgressOutput,
): Promise<RemoteIndex> {
  progress.show(`reading ${source.label}`);
  const index = await reader.list(source, signal);
  const skills = index.skills.filter(({ capabilityType }) => type === undefined || capabilityType === type);
  progress.show(`reading the descriptors of ${source.label}`);
  const described = await reader.readDescriptors(skills.slice(0, describedSkills), signal);
  progress.done();
  return {
    ...index,
    skills: [...described.skills, ...skills.slice(describedSkills)],
    problems: [...index.problems, ...described.problems],
    ...(described.isPartial === true && { isPartial: true }),
  };
}

function toJson({ source, form, commit, skills, problems, isPartial }: RemoteIndex): object {
  return {
    source: source.label,
    form: formName({ form, source }),
    commit,
    skills: skills.map(toRow),
    problems,
    partial: isPartial === true,
  };
}

/** A skill as JSON, without URLs, which may hold the token of a share. */
function toRow(skill: RemoteSkill): object {
  const { name, version, id, capabilityType: type, access, description, content } = skill;
  const digest = "digest" in content ? content.digest : undefined;
  return { name, version, id, type, access, description, digest, ...useOfSkill(skill) };
}

/** The form of a source, for users and programs: a scheme is a form of its own. */
function formName({ form, source }: Pick<RemoteIndex, "form" | "source">): string {
  return form === "scheme" ? source.label.replace(/:.*$/s, "") : form;
}

/** The advice for a user who expected skills; empty for forms of sources whose skills are all visible. */
function emptyHint(form: RemoteIndex["form"], type: string | undefined): string {
  if (type !== undefined) return "; without --type, all are listed";
  if (form === "git" || form === "marketplace" || form === "scheme") return "";
  return "; what is private there is not listed: give a token with --token env:NAME, or ask its publisher for the URL of a share (/s/TOKEN/)";
}

async function printTable(
  { source, form, skills, problems }: RemoteIndex,
  type: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const heading = ["NAME", "VERSION", "TYPE", "ACCESS", "USE", "DESCRIPTION"];
  const rows = skills.map((skill) => {
    const { name, version = "-", capabilityType = "-", access = "-", description } = skill;
    const { use, ...rest } = useOfSkill(skill);
    const last = "why" in rest ? rest.why : description;
    return [name, version, capabilityType, access, use, last].map(safeText);
  });
  if (rows.length > 0) await terminal.print(table(heading, rows, terminal));
  noteSome(problems, shownProblems, terminal);
  const uses = skills.map((skill) => useOfSkill(skill).use);
  const count = (use: string): number => uses.filter((one) => one === use).length;
  const parts = [
    `${count("install")} to install`,
    `${count("invoke")} to invoke`,
    `${count("cannot")} cannot be used`,
    `${count("unknown")} without a descriptor`,
  ].filter((part, index) => index < 2 || !part.startsWith("0"));
  const what = `${counted(skills.length, "skill")}${type === undefined ? "" : ` of type ${type}`}`;
  const rest = skills.length > 0 ? `: ${parts.join(", ")}` : emptyHint(form, type);
  terminal.note(`${what} at ${source.label} (${formName({ form, source })})${rest}`);
}
