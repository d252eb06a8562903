import { asAvailable, nearest } from "../../../../base/text/nearest.ts";
import { inWords } from "../../../../skills/permissions.ts";
import { changesOf } from "../../../../skills/copied-files.ts";
import { shortDigest } from "../../../../runtime/question.ts";
import { labelled, table } from "../../../report/columns.ts";
import { safeText } from "../../../report/safe-text.ts";
import { type Approval, isNamedApproval, readApprovals } from "./approval-rows.ts";
import type { Approving } from "../approvals.ts";
import { findInstalled } from "./find-installed.ts";
import { imported } from "./record-changes.ts";

export async function listApprovals({ options, store, terminal }: Approving): Promise<number> {
  const approvals = await readApprovals(store);
  if (options.json === true) await terminal.printJson({ approvals });
  else if (approvals.length === 0) terminal.note("nothing is approved or blocked");
  else await terminal.print(table(heading, approvals.map(toRow), terminal));
  return 0;
}

const heading = ["SKILL", "VERSION", "DIGEST", "WHERE", "BY", "WHEN", "ID", "WHAT"];

function toRow(approval: Approval): readonly string[] {
  const { skill, version, digest, project, who, when, via, id } = approval;
  const by = via === imported ? `${who} (imported)` : who;
  const texts = [skill, version, digest === null ? "" : shortDigest(digest), project ?? "everywhere", by, when, id];
  return [...texts, whatOf(approval)].map((text) => safeText(text ?? ""));
}

function whatOf({ type, capabilities, called_by: by, from, expires }: Approval): string {
  if (type === "trusted-project") return "models may read its skills";
  if (type === "block")
    return `blocked (${from === "own" ? "your own" : from === "remote" ? "from a source" : "of the project"})`;
  const words = capabilities === null ? [] : inWords(capabilities);
  return [
    words.length === 0 ? "may run in its sandbox" : words.join(", "),
    ...(by === null ? [] : [`when ${by.skill} (${shortDigest(by.digest)}) calls it`]),
    ...(expires === null ? [] : [`until ${expires}`]),
  ].join(", ");
}

/** Everything about one skill or grant, and which files of the approved version have changed since. */
export async function showApproval(given: Approving): Promise<number> {
  const { targets, options, store, terminal } = given;
  const [target = ""] = targets;
  const all = await readApprovals(store);
  const found = all.filter((approval) => isNamedApproval(approval, target));
  if (found.length === 0) {
    terminal.note(nothingNamed(target, all));
    return 1;
  }
  const shown = [];
  for (const approval of found) {
    const { digest, skill } = approval;
    const installed = skill === null ? undefined : await findInstalled(skill, given);
    const copy = digest === null ? undefined : await store.readCopy(digest);
    const isCurrent = digest === null ? null : (installed?.versions.some((one) => one.digest === digest) ?? false);
    const newest = installed?.versions[0];
    const changed =
      isCurrent !== false || copy === undefined || newest === undefined
        ? []
        : changesOf(copy, await newest.files()).map(({ path }) => path);
    shown.push({ ...approval, installed: isCurrent, changed });
  }
  if (options.json === true) await terminal.printJson({ approvals: shown });
  else {
    const fact = labelled(terminal.paint, 11);
    await terminal.print(
      shown.flatMap((approval) => [...toFacts(approval).map(([label, value]) => fact(label, value)), "\n"]),
    );
  }
  return 0;
}

function toFacts(
  approval: Approval & { readonly installed: boolean | null; readonly changed: readonly string[] },
): readonly (readonly [string, string])[] {
  const { id, skill, version, digest, project, who, when, via, installed, changed } = approval;
  return [
    ["skill", skill ?? ""],
    ["version", version ?? ""],
    ["digest", digest ?? ""],
    ["id", id ?? ""],
    ["what", whatOf(approval)],
    ["where", project ?? "everywhere"],
    ["by", `${who}, ${when}, ${via}`],
    ["installed", installed === null ? "" : installed ? "yes" : "another version, or none"],
    ["changed", changed.join(", ")],
  ];
}

export function nothingNamed(target: string, all: readonly Approval[]): string {
  const names = [...new Set(all.flatMap(({ skill }) => skill ?? []))];
  const [near] = nearest(target, names, asAvailable);
  return `no approval of ${target}${near === undefined ? "" : `; did you mean ${near}?`}`;
}
