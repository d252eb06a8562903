import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readEvalsFile } from "../../src/skills/check/evals-file.ts";
import { describeDemand } from "../../src/skills/environment/requirement.ts";
import { statedRequirements } from "../../src/skills/environment/requirements-of.ts";
import { findBodyFaults } from "../../src/skills/manifest/check-document.ts";
import { diskSkillFiles } from "../../src/skills/files.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../../src/skills/manifest/read-manifest.ts";
import { rules } from "../../src/skills/rules.ts";

const root = fileURLToPath(new URL("../fixtures/skills/", import.meta.url));
const headLength = 4096;

/** Rules that the scanner checks on directories, so that no single file can break them. */
const scannerRules = [
  ..."unreadable not-a-regular-file dangling-symlink file-name-invalid directory-loop skill-shadowed slug-collision".split(
    " ",
  ),
  ..."slug-qualified skill-copy skill-file-unused skill-file-misnamed manifest-alone skill-ignored ignored-unsearched".split(
    " ",
  ),
  ..."too-deep too-many-directories manifest-unreadable not-read-in-time ignore-pattern-excessive".split(" "),
  "manifest-entrypoint-missing",
];

function read(folder: string) {
  const found = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).find((path) =>
    /skill\.md$/i.test(path),
  );
  const file = join(root, folder, found ?? "");
  const directory = dirname(file);
  const bytes = readFileSync(file);
  const toml = join(directory, "skill.toml");
  const { skill, findings } = parseSkill(
    {
      directory,
      expectedName: basename(directory),
      file,
      head: bytes.subarray(0, headLength),
      whole: bytes.length <= headLength,
    },
    existsSync(toml) ? readManifest(readFileSync(toml, "utf8"), toml) : undefined,
  );
  const bodies = findBodyFaults(file, diskSkillFiles()).filter(({ code }) => code === "dynamic-command");
  return { skill, findings: [...findings, ...bodies, ...(readEvalsFile(directory)?.findings ?? [])] };
}

/** For each folder: the findings as code and position, and whether the skill is still offered. */
const expected: Record<string, [findings: string[], offered: boolean]> = {
  "allowed-tools-invalid": [["allowed-tools-invalid SKILL.md:4:1"], true],
  "allowed-tools-too-long": [["allowed-tools-too-long SKILL.md:4:16"], true],
  "byte-order-mark": [["byte-order-mark SKILL.md:1:1"], true],
  "compatibility-not-a-string": [["compatibility-not-a-string SKILL.md:4:1"], true],
  "compatibility-too-long": [["compatibility-too-long SKILL.md:4:16"], true],
  "control-characters": [["control-characters SKILL.md:3:14", "control-characters SKILL.md:4:1"], true],
  "description-missing": [["description-missing SKILL.md:2:1"], false],
  "description-missing-blank": [["description-missing SKILL.md:3:14"], false],
  "description-too-long": [["description-too-long SKILL.md:3:14"], true],
  "description-too-long-manifest": [["description-too-long skill.toml:3:15"], true],
  "dynamic-command": [["dynamic-command SKILL.md:6:14", "dynamic-command SKILL.md:8:1"], true],
  "evals-invalid": [["evals-invalid evals.json:5:58"], true],
  "field-not-boolean": [["field-unexpected SKILL.md:4:1", "field-not-boolean SKILL.md:4:27"], true],
  "field-unexpected": [["field-unexpected SKILL.md:4:1"], true],
  "file-name-lowercase": [["file-name-lowercase skill.md:1:1"], true],
  "file-name-case": [["file-name-case Skill.md:1:1"], true],
  "frontmatter-language": [["frontmatter-language SKILL.md:1:1"], false],
  "frontmatter-missing": [["frontmatter-missing SKILL.md:1:1"], false],
  "frontmatter-missing-empty-file": [["frontmatter-missing SKILL.md:1:1"], false],
  "frontmatter-missing-utf16": [["frontmatter-missing SKILL.md:1:1"], false],
  "frontmatter-not-a-mapping": [["frontmatter-not-a-mapping SKILL.md:2:1"], false],
  "frontmatter-too-long": [["frontmatter-too-long SKILL.md:1:1"], false],
  "frontmatter-unclosed": [["frontmatter-unclosed SKILL.md:1:1"], false],
  "isolation-none": [["isolation-none skill.toml:7:13"], true],
  "isolation-none-metadata": [["isolation-none SKILL.md:5:3"], true],
  "invalid-utf8": [["invalid-utf8 SKILL.md:3:23"], true],
  "invisible-characters": [["invisible-characters SKILL.md:3:22", "invisible-characters SKILL.md:4:13"], true],
  "license-not-a-string": [["license-not-a-string SKILL.md:4:1"], true],
  "license-too-long": [["license-too-long SKILL.md:4:10"], true],
  "manifest-default-invalid": [
    ["manifest-default-invalid skill.toml:10:11", "manifest-default-invalid skill.toml:14:11"],
    true,
  ],
  "manifest-dependency-invalid": [["manifest-dependency-invalid skill.toml:7:10"], false],
  "manifest-entrypoint-outside": [["manifest-entrypoint-outside skill.toml:8:14"], false],
  "manifest-field-invalid": [["manifest-field-invalid skill.toml:2:11"], false],
  "manifest-field-missing": [["manifest-field-missing skill.toml:1:1"], false],
  "manifest-foreign": [["manifest-foreign skill.toml:1:1"], true],
  "manifest-frontmatter-missing": [["manifest-frontmatter-missing SKILL.md:1:1"], true],
  "manifest-key-unknown": [["manifest-key-unknown skill.toml:8:1"], true],
  "manifest-name-too-long": [["manifest-name-too-long skill.toml:1:8"], false],
  "manifest-namespace-mismatch": [["manifest-namespace-mismatch skill.toml:5:13"], false],
  "manifest-network-invalid": [["manifest-network-invalid skill.toml:7:11"], false],
  "manifest-runtime-missing": [["manifest-runtime-missing skill.toml:4:8"], false],
  "manifest-runtime-refused": [["manifest-runtime-refused skill.toml:6:1"], false],
  "manifest-secret-header-invalid": [
    [11, 16, 21].map((line) => `manifest-secret-header-invalid skill.toml:${line}:10`),
    false,
  ],
  "manifest-secret-host-invalid": [Array<string>(14).fill("manifest-secret-host-invalid skill.toml:7:11"), false],
  "manifest-secret-invalid": [["manifest-secret-invalid skill.toml:7:11"], false],
  "manifest-secret-invalid-table": [
    [
      "manifest-secret-invalid skill.toml:7:11",
      "manifest-secret-invalid skill.toml:7:11",
      "manifest-secret-header-invalid skill.toml:7:11",
    ],
    false,
  ],
  "manifest-secret-invalid-twice": [["manifest-secret-invalid skill.toml:7:11"], false],
  "manifest-syntax": [["manifest-syntax skill.toml:6:1"], false],
  "manifest-tags-too-many": [["manifest-tags-too-many skill.toml:5:8"], true],
  "metadata-nested-value": [["metadata-nested-value SKILL.md:6:3"], true],
  "metadata-nested-value-requires": [["metadata-nested-value SKILL.md:5:3"], true],
  "metadata-too-long": [["metadata-too-long SKILL.md:5:3"], true],
  "metadata-permission-invalid": [
    [
      "metadata-permission-invalid SKILL.md:5:3",
      "metadata-permission-invalid SKILL.md:6:3",
      "metadata-permission-invalid SKILL.md:7:3",
      "metadata-permission-invalid SKILL.md:8:3",
    ],
    true,
  ],
  "metadata-not-a-mapping": [["metadata-not-a-mapping SKILL.md:4:11"], true],
  "name-directory-mismatch": [["name-directory-mismatch SKILL.md:2:7"], true],
  "name-hyphens": [["name-hyphens SKILL.md:2:7"], true],
  "name-invalid-characters": [["name-invalid-characters SKILL.md:2:7"], true],
  "name-missing": [["name-missing SKILL.md:2:1"], true],
  "name-not-ascii": [["name-not-ascii SKILL.md:2:7"], true],
  "name-not-lowercase": [["name-not-lowercase SKILL.md:2:7"], true],
  "name-too-long": [["name-too-long SKILL.md:2:7"], true],
  "name-unusable": [["name-unusable SKILL.md:2:7"], false],
  "valid-block-scalar": [[], true],
  "valid-crlf": [[], true],
  "valid-every-field": [[], true],
  "valid-fence-with-blanks": [[], true],
  "valid-long-body": [[], true],
  "valid-manifest-action": [[], true],
  "valid-manifest-instruction": [[], true],
  "valid-manifest-secrets": [[], true],
  "valid-minimal": [[], true],
  "valid-requirements": [[], true],
  "valid-tool-list": [[], true],
  "yaml-alias-bomb": [["yaml-alias-bomb SKILL.md:16:9"], true],
  "yaml-comment-in-value": [["yaml-comment-in-value SKILL.md:3:38"], true],
  "yaml-duplicate-key": [["yaml-duplicate-key SKILL.md:5:1"], true],
  "yaml-not-strict": [["yaml-not-strict SKILL.md:4:16"], true],
  "yaml-syntax": [["yaml-syntax SKILL.md:4:10"], true],
  "yaml-syntax-indented-key": [["yaml-syntax SKILL.md:3:2"], true],
  "yaml-syntax-indicator-with-text": [["yaml-syntax SKILL.md:3:14"], true],
  "yaml-syntax-leading-at": [["yaml-syntax SKILL.md:3:14"], true],
  "yaml-syntax-leading-backtick": [["yaml-syntax SKILL.md:3:14"], true],
  "yaml-syntax-quotes-in-quotes": [["yaml-syntax SKILL.md:3:14"], true],
  "yaml-syntax-stray-line": [["yaml-syntax SKILL.md:5:1"], true],
  "yaml-syntax-tab": [["yaml-syntax SKILL.md:5:1"], true],
  "yaml-syntax-unclosed-quote": [["yaml-syntax SKILL.md:3:14"], true],
  "yaml-syntax-unindented-quote": [["yaml-syntax SKILL.md:4:1"], true],
  "yaml-tag": [["yaml-tag SKILL.md:4:10"], true],
  "yaml-unquoted-colon": [["yaml-unquoted-colon SKILL.md:3:38"], true],
};

test("the table lists exactly the fixture folders", () => {
  expect(readdirSync(root).sort()).toEqual(Object.keys(expected).sort());
});

test.each(Object.entries(expected))("%s", (folder, [findings, offered]) => {
  const result = read(folder);
  expect(result.findings.map(({ code, file, line, column }) => `${code} ${basename(file)}:${line}:${column}`)).toEqual(
    findings,
  );
  expect(result.skill !== undefined).toBe(offered);
  const named = result.findings.some(({ code }) => folder === code || folder.startsWith(`${code}-`));
  expect(named).toBe(!folder.startsWith("valid-"));
});

test.each([
  ["valid-requirements", ['"Requires git and Python 3.10+. Optionally requires jq."', '"docker or podman"']],
  ["metadata-nested-value-requires", ["uv"]],
])("%s requires %j", (folder, names) => {
  expect(statedRequirements(read(folder).skill!).map(describeDemand)).toEqual(names);
});

test("every rule has a fixture, except scanner rules", () => {
  const shown = new Set(
    Object.values(expected).flatMap(([findings]) => findings.map((finding) => finding.split(" ")[0])),
  );
  expect(
    Object.keys(rules)
      .filter((code) => !shown.has(code))
      .sort(),
  ).toEqual(scannerRules.sort());
});

test("reading the fixtures runs no code from them", () => {
  for (const folder of readdirSync(root)) read(folder);
  expect("frontmatterRan" in globalThis).toBe(false);
});
