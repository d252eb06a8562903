import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: `${root}.config/eslint.config.js`,
  // On CI the parser would read files from disk instead of using the given text.
  overrideConfig: { languageOptions: { parserOptions: { disallowAutomaticSingleRunInference: true } } },
});

/** The rules that the given text violates in place of an existing file. */
async function broken(file: string, text: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(text, { filePath: `${root}${file}` });
  return result?.messages.map(({ ruleId }) => ruleId) ?? [];
}

test.each([
  [
    "a wing that imports one above it",
    "src/skills/permissions.ts",
    'import "../acp/emission.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "an import between wings that are not listed for each other",
    "src/client/initialize.ts",
    'import "../skills/permissions.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "what tools need that imports a transport",
    "src/runtime/options.ts",
    'import "../acp/emission.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "the ground floor that imports another one",
    "src/base/errors.ts",
    'import "../wire/methods.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "an import between rooms of runtime that are not listed for each other",
    "src/runtime/trust/decisions.ts",
    'import "../ledger.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "a wing that imports its last room",
    "src/sources/lock-file.ts",
    'import "./install.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "what only relays messages that imports the other thread",
    "src/acp/relay/interest.ts",
    'import "../service/serve-port.ts";\n',
    "import-x/no-restricted-paths",
  ],
  [
    "an import past an entry",
    "src/runtime/runs/plan.ts",
    'export type { Policies } from "../trust/policy/open-policies.ts";\n',
    "house/no-past-entry",
  ],
  [
    "a lazy import past an entry",
    "src/cli/main.ts",
    'await import("./commands/serve/serve.ts");\n',
    "house/no-past-entry",
  ],
  ["a package that a wing does not list", "src/skills/permissions.ts", 'import "execa";\n', "no-restricted-imports"],
  [
    "a limit with another word than max or min",
    "src/skills/permissions.ts",
    "export const mostHosts = 20;\n",
    "house/number-names",
  ],
  [
    "a bare word for a limit",
    "src/skills/permissions.ts",
    "export function f(longest: number): number {\n  return longest;\n}\n",
    "house/number-names",
  ],
  [
    "a limit among the parameters of a type",
    "src/skills/permissions.ts",
    "export type Shortens = (text: string, longest: number) => string;\n",
    "house/number-names",
  ],
  [
    "a limit in a pattern",
    "src/skills/permissions.ts",
    "export const [leastBits] = [1] as const;\n",
    "house/number-names",
  ],
  [
    "a time without its unit",
    "src/skills/permissions.ts",
    "export interface Waits {\n  readonly answerTimeout?: number | undefined;\n}\n",
    "house/number-names",
  ],
  [
    "a time in another unit than milliseconds",
    "src/skills/permissions.ts",
    "export const drainSeconds = 30;\n",
    "house/number-names",
  ],
  [
    "an own module that is imported before one of Node",
    "src/skills/permissions.ts",
    'import type { Skill } from "./skill.ts";\nimport path from "node:path";\nexport const at = (skill: Skill): string => skill.name + path.sep;\n',
    "import-x/order",
  ],
  ["a cycle", "src/skills/permissions.ts", 'import "./manifest/parse-skill.ts";\n', "import-x/no-cycle"],
  [
    "a floating promise",
    "src/skills/permissions.ts",
    "Promise.resolve();\n",
    "@typescript-eslint/no-floating-promises",
  ],
  [
    "a switch that is not exhaustive",
    "src/skills/permissions.ts",
    'export function f(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n  }\n}\n',
    "@typescript-eslint/switch-exhaustiveness-check",
  ],
])(
  "reports %s",
  async (_what, file, text, rule) => {
    expect(await broken(file, text)).toContain(rule);
  },
  60_000,
);

test("a function or a list may have the name of a time or a limit", async () => {
  const text =
    "export const longestFirst = (names: readonly string[]): readonly string[] => names.toSorted();\nexport function withinTime(): void {}\n";
  expect(await broken("src/skills/permissions.ts", text)).toEqual([]);
}, 60_000);
