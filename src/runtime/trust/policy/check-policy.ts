import { nearest } from "../../../base/text/nearest.ts";
import { type Capabilities, noCapabilities, onlyCapabilities } from "../../../skills/permissions.ts";
import { contradictionsIn } from "./merge-policies.ts";
import {
  nodeAt,
  type JsonEntry,
  type JsonNode,
  parseJsonNode,
  rangeOf,
  valueOf,
} from "../../../base/json/json-text.ts";
import {
  type ListName,
  type PolicyFile,
  type PolicyProblem,
  type ReportPolicyProblem,
  commitForm,
  entryFault,
  grantedLists,
  lists,
  policyLimits,
  settings,
} from "./policy-file.ts";
import { maxWildcards } from "../../../base/text/name-glob.ts";
import { toSigner } from "../../../skills/signature.ts";
import { isSourceRule } from "./rules.ts";
import { digestForm } from "../../../base/text/content.ts";

/** The result of reading the text of a policy file. */
export interface CheckedPolicy {
  /** Undefined if there is an error. */
  readonly policy: PolicyFile | undefined;
  readonly problems: readonly PolicyProblem[];
  /** The position of the value at this path, or of the nearest value that encloses it. */
  readonly positionOf: (
    path: readonly (string | number)[],
  ) => Omit<PolicyProblem, "code" | "severity" | "message" | "fix">;
}

/** Maximum number of reported problems. */
const maxProblems = 50;

/** Reads and validates the text of a policy file. `home` is what `~` stands for. */
export function checkPolicy(file: string, content: string, home: string): CheckedPolicy {
  const text = content.replace(/^\uFEFF/, "");
  const problems: PolicyProblem[] = [];
  const report: ReportPolicyProblem = (code, range, message, fix, severity = "error") => {
    if (problems.length < maxProblems) problems.push({ code, severity, file, ...rangeOf(text, range), message, fix });
  };
  const root = parseJsonNode(text);
  if ("fault" in root) {
    report("policy-syntax", root.fault, root.fault.message, root.fault.fix);
    return { policy: undefined, problems, positionOf: () => ({ file, line: 1, column: 1 }) };
  }
  const positionOf: CheckedPolicy["positionOf"] = (path) => ({ file, ...rangeOf(text, nodeAt(root, path)) });
  const hasErrors = (): boolean => problems.some(({ severity }) => severity === "error");
  checkFile(root, report);
  const policy = hasErrors() ? undefined : toPolicy(valueOf(root) as Written);
  const layer = { origin: "organisation", file, policy, problems, positionOf } as const;
  contradictionsIn(layer, { home, report, nodeAt: (path) => nodeAt(root, path) });
  return { policy: hasErrors() ? undefined : policy, problems, positionOf };
}

/** The content of a valid file, before defaults are filled in. */
type Written = Omit<PolicyFile, "grants"> & {
  readonly grants?: readonly { readonly capabilities?: Partial<Capabilities> }[];
};

function toPolicy({ grants, ...rest }: Written): PolicyFile {
  if (grants === undefined) return rest;
  return {
    ...rest,
    grants: grants.map((grant) => {
      return { ...grant, capabilities: onlyCapabilities({ ...noCapabilities, ...grant.capabilities }) };
    }),
  };
}

type Check = (entry: JsonEntry, report: ReportPolicyProblem) => void;

function checkFile(root: JsonNode, report: ReportPolicyProblem): void {
  const ofSettings = Object.entries(settings).map(([key, { values }]): [string, Check] => {
    return [key, ({ node }, report) => oneOf(values, key, node, report)];
  });
  const ofLists = Object.keys(lists).map((key): [string, Check] => [key, checkRules]);
  const others: [string, Check][] = [["grants", checkGrants], ["signers", checkSigners], ["$schema", checkText()], ["tools", checkTools]]; // prettier-ignore
  const known = new Map<string, Check>([...ofSettings, ...ofLists, ...others]);
  checkObject(root, "a policy", known, report);
}

/** Reports unknown and repeated keys, and checks the values of the others. */
function checkObject(
  node: JsonNode,
  what: string,
  known: ReadonlyMap<string, Check>,
  report: ReportPolicyProblem,
): void {
  if (node.type !== "object") {
    report("policy-value-invalid", node, `${what} is an object`, 'Write { "key": value }.');
    return;
  }
  const seen = new Set<string>();
  for (const entry of node.entries) {
    const check = known.get(entry.key);
    if (check === undefined) {
      const [close] = nearest(entry.key, known.keys());
      const names = [...known.keys()].filter((key) => !key.startsWith("$"));
      const fix = close === undefined ? `Use one of ${names.join(", ")}.` : `Did you mean "${close}"?`;
      report("policy-key-unknown", entry, `unknown key ${JSON.stringify(entry.key.slice(0, 128))} in ${what}`, fix);
    } else if (seen.has(entry.key)) {
      report("policy-key-duplicate", entry, `the key "${entry.key}" occurs twice`, "Keep one of them.");
    } else {
      check(entry, report);
    }
    seen.add(entry.key);
  }
}

function oneOf(
  values: readonly (string | boolean | number)[],
  key: string,
  node: JsonNode,
  report: ReportPolicyProblem,
): void {
  const given = node.type === "scalar" ? node.value : undefined;
  if (values.some((value) => value === given)) return;
  if (typeof values[0] === "number") {
    const range = `a whole number from 0 to ${values.length - 1}`;
    report("policy-value-invalid", node, `"${key}" is ${range}`, `Write ${range}.`);
    return;
  }
  const choices = values.map((value) => JSON.stringify(value));
  const texts = values.filter((value) => typeof value === "string");
  const [close] = typeof given === "string" ? nearest(given, texts) : [];
  const fix = close === undefined ? `Write ${choices.join(" or ")}.` : `Did you mean "${close}"?`;
  report("policy-value-invalid", node, `"${key}" is ${choices.join(" or ")}`, fix);
}

function checkText(form = /^/, expected = "a string"): Check {
  return ({ key, node }, report) => {
    const isValid = node.type === "scalar" && typeof node.value === "string" && form.test(node.value);
    if (!isValid) report("policy-value-invalid", node, `invalid value of "${key}"`, `Write ${expected}.`);
  };
}

function checkRules({ key: list, node }: JsonEntry, report: ReportPolicyProblem): void {
  const check: Check = ({ key, node: entries }) => checkEntries(list as ListName, `${list}.${key}`, entries, report);
  checkObject(node, `"${list}"`, new Map([["allow", check], ["deny", check]]), report); // prettier-ignore
}

function checkEntries(list: ListName, name: string, node: JsonNode, report: ReportPolicyProblem): void {
  const { expected } = lists[list];
  checkTexts({ name, node, expected, fault: (entry) => entryFault(list, entry) }, report);
  const items = node.type === "array" ? node.items : [];
  const patterns = items.filter((item) => item.type === "scalar" && String(item.value).includes("*"));
  const surplus = patterns[policyLimits.patterns];
  if (surplus === undefined) return;
  const message = `${name} has more than ${policyLimits.patterns} entries with wildcards`;
  report("policy-value-invalid", surplus, message, "Use fewer, wider patterns, or names.");
}

interface TextList {
  readonly name: string;
  readonly node: JsonNode;
  readonly expected: string;
  /** The fault of an entry; undefined if it has none, empty if it has the wrong form. */
  readonly fault: (entry: string) => string | undefined;
}

/** Reports items that are not strings or that have a fault. */
function checkTexts({ name, node, expected, fault }: TextList, report: ReportPolicyProblem): void {
  for (const item of itemsOf(name, node, policyLimits.entries, report)) {
    const found = item.type === "scalar" && typeof item.value === "string" ? fault(item.value) : "";
    const why = found ? `: ${found}` : "";
    if (found !== undefined)
      report("policy-value-invalid", item, `invalid entry in ${name}${why}`, `Write ${expected}.`);
  }
}

function itemsOf(name: string, node: JsonNode, maxItems: number, report: ReportPolicyProblem): readonly JsonNode[] {
  if (node.type !== "array") {
    report("policy-value-invalid", node, `${name} is a list`, "Write [ … ].");
    return [];
  }
  if (node.items.length <= maxItems) return node.items;
  const message = `${name} has ${node.items.length} entries; the limit is ${maxItems}`;
  report("policy-value-invalid", node, message, "Use fewer entries, with patterns where they are possible.");
  return [];
}

/** Warns about `tools`, a key of older policies. */
function checkTools(entry: JsonEntry, report: ReportPolicyProblem): void {
  const message = '"tools" has no effect: acp-skills answers no request of the agent for its own tools';
  report("policy-no-effect", entry, message, "Remove it, and use the agent's own settings.", "warning");
}

function checkGrants({ node }: JsonEntry, report: ReportPolicyProblem): void {
  for (const item of itemsOf("grants", node, policyLimits.grants, report)) {
    const known = new Map<string, Check>([
      ["skill", checkText(/^[a-z0-9.*-]{1,128}$/, "the name of a skill")],
      [
        "digest",
        checkText(digestForm, "a digest such as sha256:… (64 hexadecimal digits), as acp-skills show prints it"),
      ],
      ["source", checkText(/^https?:\/\/[^/\s]/, "the start of a URL")],
      ["commit", checkText(commitForm, "a full commit id: 40 or 64 hexadecimal digits")],
      ["capabilities", checkCapabilities],
    ]);
    checkObject(item, "a grant", known, report);
    checkGrantKeys(item, report);
  }
}

function checkSigners({ node }: JsonEntry, report: ReportPolicyProblem): void {
  const source: Check = ({ node: value }) => {
    const text = value.type === "scalar" && typeof value.value === "string" ? value.value : "";
    if (text === "*" || (text.length <= policyLimits.entryLength && isSourceRule(text))) return;
    report("policy-value-invalid", value, 'invalid value of "source"', `Write ${lists.sources.expected}, or "*".`);
  };
  const accept: Check = ({ node: list }) => {
    for (const item of itemsOf("accept", list, policyLimits.entries, report)) {
      const signer = item.type === "object" ? toSigner(valueOf(item)) : undefined;
      const wildcards = signer !== undefined && "identity" in signer ? signer.identity.split("*").length - 1 : 0;
      if (signer !== undefined && wildcards <= maxWildcards) continue;
      const fix = 'Write {"identity": …, "issuer": …} or {"key": "SHA256:…"}, as acp-skills show prints them.';
      report("policy-value-invalid", item, "not a signer", fix);
    }
  };
  for (const item of itemsOf("signers", node, policyLimits.entries, report)) {
    const known = new Map<string, Check>([["source", source], ["accept", accept]]); // prettier-ignore
    checkObject(item, "a demand for signers", known, report);
    const keys = item.type === "object" ? item.entries.map(({ key }) => key) : [...known.keys()];
    const missing = [...known.keys()].find((key) => !keys.includes(key));
    if (missing === undefined) continue;
    report("policy-value-invalid", item, `"${missing}" is missing`, 'Write {"source": …, "accept": [ … ]}.');
  }
}

/** Checks that a grant names a skill and a digest, or a source and a commit. */
function checkGrantKeys(node: JsonNode, report: ReportPolicyProblem): void {
  if (node.type !== "object") return;
  const has = (key: string): boolean => node.entries.some((entry) => entry.key === key);
  const isByDigest = has("skill") && has("digest") && !has("source") && !has("commit");
  const isByCommit = has("source") && has("commit") && !has("digest");
  const name = node.entries.find(({ key }) => key === "skill")?.node;
  const isPattern = name?.type === "scalar" && typeof name.value === "string" && name.value.includes("*");
  if (!isByDigest && !isByCommit) {
    const fix = 'Write {"skill": …, "digest": …, "capabilities": …} or {"source": …, "commit": …, "capabilities": …}.';
    report("policy-value-invalid", node, "a grant names a skill and its digest, or a source and its commit", fix);
  } else if (isByDigest && isPattern) {
    report("policy-value-invalid", name, "a grant to a digest names one skill", "Write the name of the skill.");
  }
}

function checkCapabilities({ node }: JsonEntry, report: ReportPolicyProblem): void {
  const entriesOf = (list: keyof typeof grantedLists): Check => {
    const { expected, accepts } = grantedLists[list];
    const fault = (entry: string): string | undefined => (accepts(entry) ? undefined : "");
    return ({ key, node: entries }) =>
      checkTexts({ name: `capabilities.${key}`, node: entries, expected, fault }, report);
  };
  const choice = (...values: readonly string[]): Check => {
    return ({ key, node: value }) => oneOf(values, key, value, report);
  };
  const known = new Map<string, Check>([
    ["network", entriesOf("network")],
    ["secrets", entriesOf("secrets")],
    ["uses", entriesOf("uses")],
    ["project", choice("none", "read", "write")],
    ["isolation", choice("none")],
    ["tools", checkTools],
  ]);
  checkObject(node, '"capabilities"', known, report);
}
