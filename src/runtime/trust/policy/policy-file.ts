import type { Capabilities } from "../../../skills/permissions.ts";
import type { Signer } from "../../../skills/signature.ts";
import { isHostRule, isSourceRule } from "./rules.ts";
import { maxWildcards } from "../../../base/text/name-glob.ts";
import type { FileProblem } from "../../../base/failures/file-problem.ts";

/** The settings of a policy. Their values go from permissive to strict: of two values, the later one counts. */
export const settings = {
  runs: {
    values: ["sandbox", "ask"],
    about: "Whether a run that needs nothing beyond its sandbox needs an approval, too.",
  },
  reads: {
    values: ["allow", "ask"],
    about: "Whether models may read skills of a project that nobody has trusted. A project cannot set this to allow.",
  },
  approvals: {
    values: ["everywhere", "project", "session", "once", "none"],
    about: "The widest approval that a person can give; none: only the grants of a policy count.",
  },
  prompts: { values: [true, false], about: "Whether people may be asked." },
  answers: {
    values: [true, false],
    about:
      "Whether permission requests of the wrapped agent for the tools of acp-skills may be answered for the person.",
  },
  scripts: { values: [true, false], about: "Whether any code may run: of skills, and the model's own." },
  worktrees: { values: ["shared", "separate"], about: "Whether the worktrees of a repository share approvals." },
  isolation: { values: ["none", "sandbox"], about: "The weakest isolation that a skill may ask for." },
  project: { values: ["write", "read", "none"], about: "The most that a skill may do with the project's files." },
  minimumAge: {
    values: Array.from({ length: 366 }, (_, days) => days),
    about: "How many days old a version must be before an update takes it.",
  },
} as const;

export type SettingName = keyof typeof settings;

export type PolicySettings = { readonly [Name in SettingName]: (typeof settings)[Name]["values"][number] };

interface ListForm {
  readonly about: string;
  readonly expected: string;
  readonly accepts: (entry: string) => boolean;
}

const name = /^[a-z0-9*]+(?:[.-][a-z0-9*]+)*$/;
const secret = /^[A-Za-z0-9_*]+$/;
/** Whether an entry is `GH_TOKEN`, or `GH_TOKEN@api.github.com` for sending the secret to such hosts only. */
function isSecretRule(entry: string): boolean {
  const [name = "", ...hosts] = entry.split("@");
  return secret.test(name) && hosts.length < 2 && hosts.every(isHostRule);
}
const license = /^(?:LicenseRef-)?[A-Za-z0-9][A-Za-z0-9.+-]*(?: WITH [A-Za-z0-9.-]+)?$/;

/** The lists of a policy. "deny" takes precedence over "allow". If a list has "allow", everything that it does not name is denied. */
export const lists = {
  skills: {
    about: "Names of skills; * stands for any characters.",
    expected: "a name such as acme.deploy or acme.*",
    accepts: (entry) => name.test(entry),
  },
  sources: {
    about: 'Directories of skills, starts of URLs, or "project" for all skills that come with a project.',
    expected: 'an absolute directory, one that starts with ~/, the start of a URL, or "project"',
    accepts: isSourceRule,
  },
  licenses: {
    about:
      'SPDX identifiers; "unspecified" for skills without a license, "unknown" for a license that is not recognised.',
    expected: 'an SPDX identifier such as MIT, "unspecified" or "unknown"',
    accepts: (entry) => license.test(entry),
  },
  hosts: {
    about: "Hosts, with or without scheme and port; *.example.com stands for the subdomains of example.com.",
    expected: "a host such as api.example.com, *.example.com or https://example.com:8443",
    accepts: isHostRule,
  },
  secrets: {
    about:
      "Names of secrets; * stands for any characters. A name with hosts, such as GH_TOKEN@*.github.com, is about sending it there, which its skill cannot read.",
    expected: "a name such as API_KEY or ACME_*, or one with its hosts such as GH_TOKEN@api.github.com",
    accepts: isSecretRule,
  },
} as const satisfies Readonly<Record<string, ListForm>>;

export type ListName = keyof typeof lists;

interface RuleList {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** An approval that a policy gives: to exact bytes, or to skills that were fetched from a source at a commit. */
export interface PolicyGrant {
  /** The skill's name. With a source and a commit it is a pattern, and absent for all skills. */
  readonly skill?: string;
  readonly digest?: string;
  readonly source?: string;
  readonly commit?: string;
  readonly capabilities: Capabilities;
}

/** A demand for the signers of the skills of a source. */
interface SignerDemand {
  /** An entry as in the list `sources`, or `*` for all. */
  readonly source: string;
  /** `*` in an identity stands for any characters. */
  readonly accept: readonly Signer[];
}

/** A valid `acp-skills.policy.json`. */
export type PolicyFile = Partial<PolicySettings> & { readonly [List in ListName]?: RuleList } & {
  readonly grants?: readonly PolicyGrant[];
  readonly signers?: readonly SignerDemand[];
};

/** Limits that keep every check fast. */
export const policyLimits = { bytes: 128 * 1024, entries: 250, grants: 1_000, patterns: 64, entryLength: 256 } as const;

/** The fault of a list's entry; undefined if it has none, empty if it has the wrong form. */
export function entryFault(list: ListName, entry: string): string | undefined {
  if (entry.length > policyLimits.entryLength) return `an entry is at most ${policyLimits.entryLength} characters long`;
  if (entry.split("*").length - 1 > maxWildcards) return `an entry has at most ${maxWildcards} wildcards`;
  return lists[list].accepts(entry) ? undefined : "";
}

/** The lists of a grant. Their entries are as skills write them, and are compared as text. */
export const grantedLists = {
  network: {
    expected: "an origin as the skill asks for it, such as https://api.example.com",
    accepts: (entry: string) => /^https?:\/\//i.test(entry) && isHostRule(entry),
  },
  secrets: { expected: "the name of a secret, such as API_KEY", accepts: (entry: string) => /^\w{1,128}$/.test(entry) },
  uses: {
    expected: "a secret and one of its hosts, as the skill asks for it, such as GH_TOKEN@api.github.com",
    accepts: (entry: string) => /^\w{1,128}@[^*]+$/.test(entry) && isSecretRule(entry),
  },
} as const;

export const commitForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A problem of a policy file. */
export type PolicyProblem = FileProblem<
  | "policy-unreadable"
  | "policy-syntax"
  | "policy-key-unknown"
  | "policy-key-duplicate"
  | "policy-value-invalid"
  | "policy-contradiction"
  | "policy-loosens"
  | "policy-no-effect"
  | "policy-implied"
>;

/** Reports a problem at a position in the file. */
export type ReportPolicyProblem = (
  code: PolicyProblem["code"],
  range: { readonly offset: number; readonly end: number },
  message: string,
  fix: string,
  severity?: PolicyProblem["severity"],
) => void;
