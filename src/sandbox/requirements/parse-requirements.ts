/** A line that is refused: what an installer would do for it is not what a skill may ask. */
interface RequirementFault {
  /** Counted from 1. */
  readonly line: number;
  readonly why: string;
}

export interface ParsedRequirements {
  /** One requirement each, ASCII, without comments. */
  readonly requirements: readonly string[];
  readonly faults: readonly RequirementFault[];
}

const greatestFile = 64 * 1024;
/** Of a line with those that continue it; some packages have dozens of hashes. */
const longestLine = 16 * 1024;
/** Of a name with versions and a marker: what is held against patterns. */
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
 * Reads a `requirements.txt` that a stranger wrote. Only names with versions, markers and hashes pass (PEP 508): options
 * (`--index-url`, `--no-binary`, `-r`), addresses, paths and environment variables would make an installer fetch from elsewhere,
 * read our files or run a package's code. What passes is written anew for the installer, so nothing else reaches it.
 */
export function parseRequirements(bytes: Uint8Array): ParsedRequirements {
  const text = decode(bytes);
  if (text === undefined) {
    return { requirements: [], faults: [{ line: 1, why: "the file is not UTF-8 text of at most 64 KiB" }] };
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
    return undefined; // Told as a fault by the caller.
  }
}

/** A backslash at its end continues a line; a comment does not continue. */
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
  if (content.length > longestLine) return { why: `it is longer than ${longestLine} characters` };
  // One blank for many: then no pattern has anything to try in more than one way.
  const words = content.replaceAll(/[ \t]+/g, " ").trim();
  if (words === "") return { requirement: "" };
  const [plain = "", ...options] = words.split(/ (?=-)/);
  if (plain.length > longestRequirement) return { why: `it is longer than ${longestRequirement} characters` };
  if (plain.startsWith("-")) return { why: "options are not allowed in the requirements of a skill" };
  const strange = options.find((option) => !hash.test(option.trim()));
  if (strange !== undefined) return { why: "only --hash=sha256:… may follow a requirement" };
  if (/:\/\/|@|^[./\\]|\$/.test(plain))
    return { why: "addresses, paths and variables are not allowed, only names and versions" };
  if (!requirement.test(plain)) return { why: "it is not a name with versions, such as requests>=2.31" };
  return { requirement: [plain, ...options.map((option) => option.trim())].join(" ") };
}
