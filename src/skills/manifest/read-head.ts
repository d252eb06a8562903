import { withoutControls } from "../text/control-characters.ts";
import { hasInvisible } from "../text/invisible-characters.ts";
import { inDigits } from "../text/code-points.ts";
import { fitFaults } from "../rules/fit-faults.ts";
import { decodeFrontmatter, findFrontmatter, isYaml } from "../text/frontmatter.ts";
import type { ManifestReading, SkillText } from "./parse-skill.ts";
import type { Finding, RuleCode } from "../rules/rules.ts";
import { openTextPositions, toTextRange } from "../text/text-positions.ts";
import type { TextPosition } from "../text/text-positions.ts";
import { readYaml } from "../yaml/yaml.ts";

/** The unvalidated frontmatter values of the head of a SKILL.md. */
export interface HeadReading {
  /** Undefined if there is no readable frontmatter. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  /** True only if the values contain no control characters. */
  readonly isClean: boolean;
  /** The text between the fences. */
  readonly source: string;
  /** Converts an offset of `source` to a position in the file. */
  readonly positionOf: (offset: number) => TextPosition;
  readonly findings: Finding[];
}

/** The line of a file on which the text between the fences starts. */
const sourceLine = 2;

/** Reads the frontmatter of a head. With a valid manifest, missing frontmatter is reported under a less severe rule. */
export function readHead({ file, head, whole }: SkillText, manifest: ManifestReading | undefined): HeadReading {
  const findings: Finding[] = manifest === undefined ? [] : [...manifest.findings];
  const add = (code: RuleCode, message: string, fix: string, line = 1, column = 1): void => {
    findings.push({ code, file, line, column, message, fix });
  };
  const withoutValues = (code: RuleCode, message: string, fix: string, line?: number): HeadReading => {
    add(manifest?.manifest === undefined ? code : "manifest-frontmatter-missing", message, fix, line);
    return { values: undefined, isClean: true, source: "", positionOf: openTextPositions("", sourceLine), findings };
  };
  if (file.endsWith("skill.md")) {
    add("file-name-lowercase", "file is named skill.md", "Rename it to SKILL.md.");
  } else if (!file.endsWith("SKILL.md")) {
    const name = file.slice(-"SKILL.md".length);
    add("file-name-case", `file is named ${name}, which most agents do not find`, "Rename it to SKILL.md.");
  }
  const frontmatter = findFrontmatter(head, whole);
  if (frontmatter.kind === "incomplete") {
    add(
      "frontmatter-too-long",
      `frontmatter has no closing \`---\` within the first ${inDigits(head.length)} bytes`,
      "Add a line `---` after the last key, and move long text below it.",
    );
    return { values: undefined, isClean: true, source: "", positionOf: openTextPositions("", sourceLine), findings };
  }
  if (frontmatter.kind !== "found") return withoutValues(...notFound(frontmatter.kind, head));
  if (frontmatter.byteOrderMark) {
    const message = "byte order mark before the frontmatter";
    add("byte-order-mark", message, "Save the file as UTF-8 without a byte order mark.", head[0] === 0xef ? 1 : 2);
  }
  if (!isYaml(frontmatter.language)) {
    return withoutValues(
      "frontmatter-language",
      `frontmatter language \`${withoutControls(frontmatter.language)}\` is not supported; only YAML is`,
      "Write `---` alone on the first line, and YAML below it.",
    );
  }
  const { text: source, valid } = decodeFrontmatter(head, frontmatter.start, frontmatter.end);
  const positionOf = openTextPositions(source, sourceLine);
  if (!valid) {
    const { line, column } = positionOf(Math.max(source.indexOf("\ufffd"), 0));
    const message = "invalid UTF-8 in the frontmatter; it is replaced by U+FFFD";
    add("invalid-utf8", message, "Save the file as UTF-8.", line, column);
  }
  const { values, faults, isClean } = readYaml(source);
  for (const { code, offset, end, message, fix } of fitFaults(faults)) {
    if (code === "frontmatter-not-a-mapping") return withoutValues(code, message, fix, 2);
    findings.push({ code, file, ...toTextRange(positionOf, offset, end), message, fix });
  }
  // Non-ASCII characters take more bytes than UTF-16 code units; U+FFFD, the replacement for invalid bytes, is visible.
  const isAscii = source.length === frontmatter.end - frontmatter.start;
  return { values, isClean: isClean && (isAscii || !hasInvisible(source)), source, positionOf, findings };
}

function notFound(kind: "missing" | "unclosed", head: Uint8Array): [code: RuleCode, message: string, fix: string] {
  switch (kind) {
    case "missing":
      return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
        ? ["frontmatter-missing", "file is UTF-16, not UTF-8", "Save the file as UTF-8."]
        : [
            "frontmatter-missing",
            "file does not start with a line `---`",
            "Start the file with a line `---`, then `name:` and `description:`, then another line `---`.",
          ];
    case "unclosed":
      return ["frontmatter-unclosed", "frontmatter has no closing line `---`", "Add a line `---` after the last key."];
  }
}
