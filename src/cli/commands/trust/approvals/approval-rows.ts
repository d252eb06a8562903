import type { ApprovalStore, Approvals } from "../../../../runtime/trust.ts";
import { type Capabilities, noCapabilities } from "../../../../skills/permissions.ts";

/** One answer of a person, with where it holds. */
export interface Approval {
  readonly type: "grant" | "block" | "trusted-project";
  readonly id: string | null;
  readonly scope: "project" | "everywhere";
  readonly project: string | null;
  readonly skill: string | null;
  readonly version: string | null;
  readonly digest: string | null;
  readonly capabilities: Capabilities | null;
  readonly called_by: { readonly skill: string; readonly digest: string } | null;
  /** Which skills of the name. */
  readonly from: "own" | "project" | "remote" | null;
  readonly who: string;
  readonly when: string;
  readonly via: string;
  readonly expires: string | null;
}

/** All answers, in the order of their scopes, the oldest first. */
export async function readApprovals(store: ApprovalStore): Promise<readonly Approval[]> {
  const scopes = await store.scopes();
  const read = await Promise.all(scopes.map(async (scope) => toApprovals(await store.read(scope))));
  return read.flat();
}

function toApprovals({ project, grants, blocks, trusted }: Approvals): readonly Approval[] {
  const where = { scope: project === undefined ? "everywhere" : "project", project: project ?? null } as const;
  const nothing = {
    id: null,
    version: null,
    digest: null,
    capabilities: null,
    called_by: null,
    expires: null,
  } as const;
  return [
    ...(trusted === undefined
      ? []
      : [{ type: "trusted-project" as const, ...nothing, ...where, skill: null, from: null, ...trusted }]),
    ...grants.map(({ skill, calledBy, expires, from, ...grant }) => ({
      type: "grant" as const,
      ...where,
      ...grant,
      skill,
      capabilities: { ...noCapabilities, ...grant.capabilities },
      called_by: calledBy ?? null,
      expires: expires ?? null,
      from: from ?? null,
    })),
    ...blocks.map((block) => ({ type: "block" as const, ...nothing, ...where, ...block })),
  ];
}

/** Whether it is what a person named: an id, or the name or slug of a skill. */
export function isNamedApproval({ id, skill }: Pick<Approval, "id" | "skill">, target: string): boolean {
  return id === target || (skill !== null && skill.replaceAll(".", "-") === target.replaceAll(".", "-"));
}
