import type { Authorization, TrustRequest } from "../trust.ts";
import { type Capabilities, inOnePhrase, isNothing } from "../../skills/permissions.ts";
import type { JudgedSkill } from "./grants.ts";
import type { Reply } from "../question.ts";
import { quoted, shellWord } from "../../base/text/quoted.ts";

export type DeniedAuthorization = Extract<Authorization, { readonly allowed: false }>;

export const enoughAsked: DeniedAuthorization = {
  allowed: false,
  why: "Three questions of this turn were not answered with yes: no more are asked until the user writes again.",
  hint: "Go on without it, or say to the user what needs approval. They can approve a skill with: acp-skills approvals grant NAME",
};

export function blocked(
  { name, isOwn, origin }: Pick<JudgedSkill, "name" | "isOwn" | "origin">,
  reply?: Reply,
): DeniedAuthorization {
  const from = origin === undefined ? ", which came with this project" : `, which is from ${origin.source}`;
  return {
    allowed: false,
    why: `The user blocked the skill ${name}${isOwn ? "" : from}.${wordsIn(reply)}`,
    hint: `The user can undo that with: acp-skills approvals unblock ${name}`,
  };
}

export function onlyPolicy(what: string): DeniedAuthorization {
  return {
    allowed: false,
    why: `A policy does not let users approve ${what}.`,
    hint: "acp-skills policy explain NAME shows which rule decides.",
  };
}

/** The refusal for a remote caller, for whom only the configuration of the server decides. */
export function notGranted(
  { name, digest }: Pick<JudgedSkill, "name" | "digest">,
  needs: Capabilities,
): DeniedAuthorization {
  const action = isNothing(needs) ? "run" : inOnePhrase(needs);
  return {
    allowed: false,
    why: `The skill ${name} is not granted to this caller, and needs approval to ${action}.`,
    hint: `Whoever runs this server can add ${name}@${digest.replace(/^sha256:/, "")} to the caller's grants.`,
  };
}

export function refusalOf(request: TrustRequest, reply: Reply): DeniedAuthorization {
  const { skill, needs, calledBy } = request;
  if (reply.answer === "block") return blocked(skill, reply);
  const by = calledBy === undefined ? "" : `, called by ${calledBy.name},`;
  const forCaller = calledBy === undefined ? "" : ` --called-by ${calledBy.name}@${calledBy.digest}`;
  const action = isNothing(needs) ? "run" : inOnePhrase(needs);
  const again = reply.answer === undefined ? "" : ` They are asked again in this session if they write /${skill.slug}.`;
  return {
    allowed: false,
    why: `The skill ${skill.name}${by} needs approval to ${action}. ${whyRefused(reply)}`,
    hint: `The user can approve exactly this version with: acp-skills approvals grant ${skill.name}@${skill.digest}${forCaller}${originInWords(skill)}${again && `.${again}`}`,
  };
}

export function untrustedInstructions(
  { name, slug }: Pick<JudgedSkill, "name" | "slug">,
  project: string,
  why: string,
): DeniedAuthorization {
  return {
    allowed: false,
    why: `The skill ${name} came with a project whose skills the user has not trusted, so its instructions cannot be read. ${why}`,
    hint: `The user can invoke it with /${slug}, or trust the project's skills with: acp-skills approvals grant --project --cwd ${shellWord(project)}`,
  };
}

/** The option that names a skill's project or source, because the user may run the command in any directory. */
function originInWords({ isOwn, source, origin }: Pick<JudgedSkill, "isOwn" | "source" | "origin">): string {
  if (origin !== undefined) return ` --source ${shellWord(origin.source)}`;
  return isOwn ? "" : ` --cwd ${shellWord(sessionDirectoryOf(source))}`;
}

/** The directory of the session that contains a root of skills. */
export function sessionDirectoryOf(root: string): string {
  return root.replace(/[\\/]\.(?:agents|claude)[\\/]skills[\\/]?$/, "");
}

const whyUnanswered = {
  nobody: "There is nobody to ask here.",
  cancelled: "The question was cancelled.",
  timeout: "The user did not answer in time.",
} as const;

export function whyRefused(reply: Reply): string {
  if (reply.answer !== undefined)
    return `${reply.answer === "block" ? "The user blocked it." : "The user answered: not now."}${wordsIn(reply)}`;
  if (reply.missing !== "failed") return whyUnanswered[reply.missing];
  return `The question was not answered properly${reply.detail === undefined ? "" : `: ${reply.detail}`}.`;
}

/** Maximum length of the user's own words, in characters. */
const maxReasonLength = 500;

/** The user's own words in an answer, for the model. */
function wordsIn(reply: Reply | undefined): string {
  if (reply?.answer === undefined || reply.why === undefined) return "";
  return ` They wrote: ${quoted(reply.why, { maxLength: maxReasonLength })}.`;
}
