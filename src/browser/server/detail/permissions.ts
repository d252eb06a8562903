import { localOwner } from "../../../runtime/caller.ts";
import { type Steps, runInSlices } from "../../../base/promises.ts";
import { type Approvals, type FullTrustRequest, blocks, kindOf, reachOf } from "../../../runtime/trust.ts";
import type { ChangedFile } from "../../../skills/files.ts";
import { unifiedDiff } from "../../../base/text/unified-diff.ts";
import { type Capabilities, inWords, isNothing, noCapabilities, permissionsOf } from "../../../skills/permissions.ts";
import type { SkillDetail, SkillGrant, SkillPermissions, Wants } from "../../wire/skills.ts";
import type { SkillSource } from "../../../skills/files.ts";
import { type WalkedFile, orNothing } from "../../../skills/hash.ts";
import { offeredToJudged } from "../../../runtime/runs.ts";
import { noSignature, signatureWords } from "../../../skills/signature.ts";
import type { BrowseContext } from "../browse-context.ts";
import type { OfferedSkill } from "../../../skills/skill.ts";

/** The maximum number of lines shown of one diff. */
const maxDiffLines = 400;
const maxChangedFiles = 200;

/**
 * Finds what a skill wants, its approvals, and the changes since. `digest`: absent if not all files can be read; then nothing can be
 * approved. `requestOf`: makes the request that an approval of the digest answers.
 */
export async function showPermissions(
  offered: OfferedSkill,
  digest: string | undefined,
  { app, directory }: Pick<BrowseContext, "app" | "directory">,
  requestOf: (digest: string) => FullTrustRequest,
): Promise<SkillPermissions> {
  const trust = await app.trust();
  const judged = offeredToJudged(offered, app.source);
  const needs = permissionsOf(offered.skill);
  const policy = trust.policyFor(directory);
  const approvals = await trust.approvalsFor(directory);
  const ofSession = { grants: trust.sessionGrants(localOwner) };
  const grants = [...approvals, ofSession].flatMap((stored) => grantsOf(stored, judged.name, digest));
  const caller = { owner: localOwner, directory, transport: "browser", ask: nobodyAnswers };
  // Only with an earlier approval is there something to compare with.
  const isChanged = digest !== undefined && grants.length > 0 && !grants.some(({ isCurrent }) => isCurrent);
  const question = isChanged ? await trust.questionFor(requestOf(digest), caller) : undefined;
  const { signature = noSignature } = digest === undefined ? {} : requestOf(digest);
  const signed = await signature();
  const denied = policy.denies(judged, needs) ?? (await policy.deniesSigner?.(judged, signature));
  return {
    wants: toWants(needs),
    grants,
    isBlocked: approvals.some((stored) => stored.blocks.some((block) => blocks(block, judged))),
    denied: denied && { why: denied.why, hint: denied.hint },
    reach: reachOf({ skill: judged, wants: needs }, { directory }, policy),
    blockReach: kindOf(judged) === "project" ? "project" : "everywhere",
    isFree: isNothing(needs) && policy.runs === "sandbox" && judged.origin === undefined,
    signature: digest === undefined ? undefined : { state: signed.state, words: signatureWords(signed) },
    hostCommands: judged.hostCommands?.() ?? [],
    widened: question?.widened ?? [],
    changedFiles: await runInSlices(diffs(question?.changed ?? [])),
  };
}

const nobodyAnswers = (): Promise<{ readonly missing: "nobody" }> => Promise.resolve({ missing: "nobody" });

/** The capabilities, also in words. */
export function toWants(capabilities: Capabilities): Wants {
  return { ...capabilities, words: inWords(capabilities) };
}

function grantsOf(
  { project, grants }: Pick<Approvals, "grants"> & { readonly project?: string },
  name: string,
  current: string | undefined,
): readonly SkillGrant[] {
  return grants
    .filter(({ skill }) => skill === name)
    .map(({ id, version, digest, capabilities, calledBy, when, who, expires }) => ({
      ...{ id, version, digest, project, when, who, expires },
      words: [
        ...inWords({ ...noCapabilities, ...capabilities }),
        ...(calledBy === undefined ? [] : [`only when ${calledBy.skill} calls it`]),
      ],
      isCurrent: digest === current,
    }));
}

function* diffs(changed: readonly ChangedFile[]): Steps<SkillPermissions["changedFiles"]> {
  const shown = [];
  for (const { path, before, after } of changed.slice(0, maxChangedFiles)) {
    const isText = before !== undefined || after !== undefined;
    shown.push({ path, diff: isText ? unifiedDiff(before ?? "", after ?? "", maxDiffLines).join("\n") : undefined });
    yield;
  }
  return shown;
}

const maxFiles = 64;
const maxBytes = 256 * 1024;
const maxNames = 200;
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
/** Matches names in capitals in shell scripts; names in lower case are mostly variables of the script. */
const shellVariable = /\$\{?([A-Z][A-Z0-9_]{2,127})\b/g;
const shellOwn = /(?:^|[\s;])(?:(?:export|local|readonly|declare)\s{1,8})?([A-Z][A-Z0-9_]{2,127})=/gm;

/** Finds hosts in URLs and names of environment variables in the first 256 KiB of the first 64 code files. A mention need not be a use. */
export function* findMentions(walked: readonly WalkedFile[], source: SkillSource): Steps<SkillDetail["detected"]> {
  const hosts = new Set<string>();
  const environment = new Set<string>();
  for (const { path, real } of walked.filter((file) => code.test(file.path)).slice(0, maxFiles)) {
    const bytes = orNothing(() => source.bytes.head(real, maxBytes))?.bytes;
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
  if (names.size < maxNames) names.add(name);
}
