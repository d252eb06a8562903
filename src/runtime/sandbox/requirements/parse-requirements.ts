/** A line that is not allowed. */
interface RequirementFault {
  /** From 1. */
  readonly line: number;
  readonly why: string;
}

export interface ParsedRequirements {
  /** One requirement each, without comments. */
  readonly requirements: readonly string[];
  readonly faults: readonly RequirementFault[];
}

const greatestFile = 64 * 1024;
/** Including continuation lines: some packages have dozens of hashes. */
const longestLine = 16 * 1024;
/** Of a name with versions and a marker: what regular expressions are applied to. */
const longestRequirement = 1024;

const extras = String.raw`\[ *[A-Za-z0-9._-]+(?: *, *[A-Za-z0-9._-]+)* *\]`;
const version = String.raw`(?:===|==|~=|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9._*+!-]*`;
const versions = String.raw`${version}(?: *, *${version})*`;
const marker = String.raw`[A-Za-z0-9_.<>=!~()'" ,*+-]+`;
const requirement = new RegExp(
  String.raw`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])? *(?:${extras})? *(?:${versions}|\( *${versions} *\))?(?: *; *${marker})?$`,
);
const hash = /^--hash=sha(?:256|384|512):[0-9a-f]{64,128}$/;

/**
 * Parses an untrusted `requirements.txt`. Only names with versions, markers and hashes are allowed (PEP 508): options (`--index-url`,
 * `--no-binary`, `-r`), URLs, paths and environment variables could make an installer fetch from elsewhere, read local files or execute
 * a package's code. The installer gets a new file with the parsed requirements only.
 */
export function parseRequirements(bytes: Uint8Array): ParsedRequirements {
  const text = decode(bytes);
  if (text === undefined) {
    return { requirements: [], faults: [{ line: 1, why: "the file is not UTF-8 text, or exceeds 64 KiB" }] };
  }
  const requirements: string[] = [];
  const faults: RequirementFault[] = [];
  for (const { line, content } of joinLines(text)) {
    const read = parseLine(content);
    if ("why" in read) faults.push({ line, why: read.why });
    else if (read.requirement !== "") requirements.push(read.requirement);
  }
  return { requirements, faults };
}

function decode(bytes: Uint8Array): string | undefined {
  if (bytes.length > greatestFile) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // Reported by the caller.
  }
}

/** A backslash at the end continues a line, except in a comment. */
function* joinLines(text: string): Generator<{ line: number; content: string }> {
  let joined = "";
  let first = 1;
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    if (joined === "") first = index + 1;
    const plain = raw.replace(/(^|\s)#.*$/, "");
    const continues = plain === raw && raw.endsWith("\\");
    joined += continues ? `${raw.slice(0, -1)} ` : plain;
    if (continues) continue;
    yield { line: first, content: joined };
    joined = "";
  }
  if (joined !== "") yield { line: first, content: joined };
}

function parseLine(content: string): { readonly requirement: string } | { readonly why: string } {
  if (content.length > longestLine) return { why: `the line exceeds ${longestLine} characters` };
  // Collapse whitespace, which prevents backtracking.
  const words = content.replaceAll(/[ \t]+/g, " ").trim();
  if (words === "") return { requirement: "" };
  const [plain = "", ...options] = words.split(/ (?=-)/);
  if (plain.length > longestRequirement) return { why: `the requirement exceeds ${longestRequirement} characters` };
  if (plain.startsWith("-")) return { why: "options are not allowed in the requirements of a skill" };
  const strange = options.find((option) => !hash.test(option.trim()));
  if (strange !== undefined) return { why: "only --hash=sha256:… may follow a requirement" };
  if (/:\/\/|@|^[./\\]|\$/.test(plain))
    return { why: "URLs, paths and environment variables are not allowed, only names and versions" };
  if (!requirement.test(plain)) return { why: "not a name with optional versions, such as requests>=2.31" };
  return { requirement: [plain, ...options.map((option) => option.trim())].join(" ") };
}
