import { fileURLToPath } from "node:url";
import { SkillsError } from "../../base/errors.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { asText, hasTooManyValues, isObject, maxJsonValues, parseIfJson } from "../../base/json/json-value.ts";
import { cleanText } from "../../base/text/unsafe-characters.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import type { SkillFiles } from "../files.ts";
import type { HashedFile } from "../hash.ts";

/** A finding of another scanner about a file. It is shown as the scanner's, and decides nothing. Its texts are clean. */
export interface Advice {
  readonly tool: string;
  readonly rule: string;
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  /** The path in the finding, with `/`: relative to the scanner's directory, or absolute; empty if the finding is about no file. */
  readonly file: string;
  readonly line?: number;
  /** The sha256 of the scanned file, if the scanner states it. */
  readonly sha256?: string;
}

/** An advice about a file of one skill. */
export interface SkillAdvice extends Advice {
  /** Relative to the skill. */
  readonly path: string;
  /** Whether the scanned bytes differ from the current bytes of the skill. */
  readonly isOutdated: boolean;
}

const maxBytes = 8 * 1024 * 1024;
/** The number of bytes to read of a file: one more than a log may have. */
export const maxAdviceReadBytes = maxBytes + 1;
const maxRuns = 20;
const maxResults = 1_000;
const maxFiles = 8;
const [maxMessageLength, maxNameLength, maxPathLength] = [500, 64, 512];

/** The directory of a project for the SARIF files of scanners. */
export const adviceDirectory = ".agents/advice";

/**
 * Reads a SARIF 2.1.0 log: the results that failed, at most 1,000 from at most 20 runs. Throws SOURCE_INVALID, which names the fault.
 * `file` is for messages.
 */
export function parseAdvice(bytes: Uint8Array, file: string): readonly Advice[] {
  const refuse = (why: string): never => {
    throw new SkillsError("SOURCE_INVALID", `${file}: ${why}; expected a SARIF 2.1.0 log`);
  };
  if (bytes.length > maxBytes) refuse(`it has more than ${maxBytes / 1024 / 1024} MiB, the limit`);
  if (hasTooManyValues(bytes)) refuse(`it has more than ${maxJsonValues} keys and values, the limit`);
  const log = parseIfJson(
    Buffer.from(bytes)
      .toString("utf8")
      .replace(/^\ufeff/, ""),
  );
  if (!isObject(log)) return refuse("it is not a JSON object");
  if (log["version"] !== "2.1.0") refuse(`its version is ${JSON.stringify(log["version"] ?? "missing").slice(0, 32)}`);
  if (!Array.isArray(log["runs"])) refuse("it has no array `runs`");
  const runs = listOf(log["runs"]).slice(0, maxRuns);
  return runs.flatMap((run) => adviceOfRun(run)).slice(0, maxResults);
}

/** Reads the advice that a project stores in `.agents/advice/*.sarif`, and the reasons why files there cannot be used. Never throws. */
export function readProjectAdvice(
  project: string,
  files: Pick<SkillFiles, "list" | "head">,
): { readonly advice: readonly Advice[]; readonly problems: readonly string[] } {
  const directory = joinPath(project, adviceDirectory);
  const names = attempt(() => files.list(directory), [])
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".sarif"))
    .sort();
  const problems = names.length > maxFiles ? [`only the first ${maxFiles} files of ${adviceDirectory} are read`] : [];
  const advice = names.slice(0, maxFiles).flatMap((name) => {
    const label = `${adviceDirectory}/${cleanText(name, maxNameLength)}`;
    try {
      return parseAdvice(files.head(joinPath(directory, name), maxAdviceReadBytes).bytes, label);
    } catch (error) {
      problems.push(error instanceof SkillsError ? error.message : `${label} cannot be read`);
      return [];
    }
  });
  return { advice: advice.slice(0, maxResults), problems };
}

/** The advice about one skill, recognised by the names of its directory and files, wherever the scanner found these. */
export function adviceAbout(
  advice: readonly Advice[],
  directoryName: string,
  files: readonly Pick<HashedFile, "path" | "sha256">[],
): readonly SkillAdvice[] {
  const sha256 = new Map(files.map((file) => [file.path, file.sha256]));
  return advice.flatMap((one) => {
    const parts = one.file.split("/");
    for (
      let at = parts.lastIndexOf(directoryName);
      at >= 0;
      at = at === 0 ? -1 : parts.lastIndexOf(directoryName, at - 1)
    ) {
      const path = parts.slice(at + 1).join("/");
      const now = sha256.get(path);
      if (now === undefined && path !== "") continue;
      return [{ ...one, path, isOutdated: one.sha256 !== undefined && one.sha256 !== now }];
    }
    return [];
  });
}

function adviceOfRun(run: unknown): readonly Advice[] {
  const driver = at(run, "tool", "driver");
  const tool = cleanText(asText(at(driver, "name")) ?? "a scanner", maxNameLength);
  const artifacts = new Map(listOf(at(run, "artifacts")).map((one) => [at(one, "location", "uri"), one]));
  return listOf(at(run, "results"))
    .slice(0, maxResults)
    .flatMap((result): readonly Advice[] => {
      const level = at(result, "level") ?? "warning";
      if ((at(result, "kind") ?? "fail") !== "fail" || level === "none") return [];
      const rule = asText(at(result, "ruleId")) ?? asText(at(result, "rule", "id")) ?? "";
      const physical = at(listOf(at(result, "locations"))[0], "physicalLocation");
      const location = at(physical, "artifactLocation");
      const artifact = artifacts.get(at(location, "uri") ?? "");
      const line = at(physical, "region", "startLine");
      const sha256 = asText(at(artifact, "hashes", "sha-256"))?.toLowerCase();
      return [
        {
          tool,
          rule: cleanText(rule, maxNameLength),
          severity: level === "error" || level === "note" ? level : "warning",
          message: cleanText(asText(at(result, "message", "text")) ?? "no message", maxMessageLength),
          file: toPath(asText(at(location, "uri")) ?? ""),
          ...(typeof line === "number" && Number.isSafeInteger(line) && line > 0 && { line }),
          ...(sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) && { sha256 }),
        },
      ];
    });
}

function toPath(uri: string): string {
  const path = /^file:/i.test(uri)
    ? attempt(() => fileURLToPath(uri), "")
    : attempt(() => decodeURIComponent(uri), uri).replace(/^(?:\.\/)+/, "");
  return cleanText(path.replaceAll("\\", "/"), maxPathLength);
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
