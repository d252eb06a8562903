import path from "node:path";
import { subjectOf } from "../../../../runtime/runs.ts";
import { needsOf } from "../../../../skills/permissions.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../../skills/files.ts";
import { createSkillHasher } from "../../../../skills/hash.ts";
import { viewSkills } from "../../../../runtime/caller.ts";
import { type PolicyDecision, type PolicyLayer, type Subject, explainPolicies } from "../../../../runtime/trust.ts";
import type { OptionValues } from "../../../command.ts";
import type { listing } from "../../../arguments/shared-options.ts";
import { createListing } from "../../../listing/open-listing.ts";
import { labelled, table } from "../../../report/columns.ts";
import { safeText } from "../../../report/safe-text.ts";
import { shownPath } from "../../../../base/paths/location.ts";
import type { Terminal } from "../../../report/terminal.ts";
import { policiesIn } from "../../../arguments/policies.ts";
import { noSuchSkill } from "../../../../skills/skill.ts";

/** Prints what the policies decide about a skill, and which rules do. */
export async function explainSkill(
  name: string,
  options: OptionValues<typeof listing>,
  terminal: Terminal,
): Promise<number> {
  const { catalog, complete } = await createListing(options, terminal);
  const offered = catalog.find(name);
  if (offered === undefined) {
    terminal.note(noSuchSkill(name, catalog.snapshot));
    return 1;
  }
  const { skill } = offered;
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const { files, digest = "" } = await createSkillHasher().hash(source, skill.directory, new AbortController().signal);
  const skills = viewSkills(catalog.snapshot, undefined);
  const subject: Subject = { ...subjectOf(skill, { skills, sourceOf: () => source }), digest };
  const layers = policiesIn(path.resolve(terminal.cwd, options.cwd ?? "."), terminal);
  const hasCode = skill.kind === "action" || files.some((file) => file.path.startsWith("scripts/"));
  const decisions = explainPolicies(layers, { subject, wants: needsOf(skill), hasCode, home: terminal.home });
  if (options.json === true) await terminal.printJson(toShown(subject, layers, decisions));
  else await terminal.print(toText(subject, { layers, decisions }, terminal));
  return complete ? 0 : 1;
}

/** Keys in a fixed order. */
function toShown(subject: Subject, layers: readonly PolicyLayer[], decisions: readonly PolicyDecision[]): object {
  const { name, version, digest, isOwn, source, license } = subject;
  return {
    name,
    version,
    digest,
    source,
    own: isOwn,
    license: license?.() ?? "unspecified",
    files: layers.map(({ origin, file, policy }) => ({ origin, file, used: policy !== undefined })),
    decisions: decisions.map(({ about, verdict, why, place }) => ({ about, verdict, why, ...place })),
  };
}

function* toText(
  { name, version, digest, isOwn, source }: Subject,
  { layers, decisions }: { readonly layers: readonly PolicyLayer[]; readonly decisions: readonly PolicyDecision[] },
  terminal: Terminal,
): Iterable<string> {
  const { cwd, paint } = terminal;
  const field = labelled(paint, 10);
  yield field("skill", `${name} ${version}`);
  yield field("digest", digest);
  yield field("source", `${shownPath(source, cwd)}${isOwn ? "" : ", of the project"}`);
  for (const { file, policy } of layers)
    yield field(
      "policy",
      `${shownPath(file, cwd)}${policy === undefined ? ", not used: see acp-skills policy check" : ""}`,
    );
  if (layers.length === 0) yield field("policy", "none");
  yield "\n";
  const rows = decisions.map(({ about, verdict, why, place }) => {
    const where = place === undefined ? "" : `${shownPath(place.file, cwd)}:${place.line}:${place.column}`;
    return [about, verdict, why, where].map((cell) => safeText(cell));
  });
  yield* table(["WHAT", "VERDICT", "RULE", "WHERE"], rows, terminal);
}
