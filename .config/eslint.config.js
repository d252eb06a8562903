import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importX } from "eslint-plugin-import-x";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The house's import direction (README, "The house"). Each room, and each file that lies in `src/` itself, lists what it may
 * import; neighbours take what they need from one another as values. A file that is not listed here may be imported by nobody.
 * @type {Record<string, string[]>}
 */
const mayImport = {
  "errors.ts": [],
  base: ["errors.ts"],
  skills: [],
  blobs: [],
  ledger: [],
  sandbox: [],
  secrets: [],
  trust: ["skills"],
  remote: ["wire"],
  runs: ["skills", "blobs", "sandbox", "secrets", "trust", "remote"],
  tools: ["skills", "blobs", "ledger", "trust", "runs"],
  wire: ["skills"],
  "options.ts": ["trust", "remote"],
  client: ["wire"],
  browser: ["wire", "client"],
  conformance: ["wire", "client", "acp"],
  "open-trust.ts": ["ledger", "trust", "options.ts"],
  "open-sources.ts": ["remote", "skills"],
  "app.ts": [
    "remote",
    "skills",
    "blobs",
    "ledger",
    "trust",
    "runs",
    "tools",
    "options.ts",
    "open-trust.ts",
    "open-sources.ts",
  ],
  install: ["remote", "skills"],
  "caller.ts": ["skills", "trust", "tools"],
  mcp: ["skills", "trust", "runs", "tools", "wire", "app.ts", "caller.ts"],
  http: [
    "skills",
    "trust",
    "runs",
    "tools",
    "remote",
    "install",
    "blobs",
    "ledger",
    "wire",
    "options.ts",
    "app.ts",
    "caller.ts",
    "mcp",
  ],

  "in-process": ["skills", "trust", "runs", "tools", "options.ts", "app.ts", "caller.ts", "acp"],
  acp: ["skills", "ledger", "trust", "runs", "tools", "wire", "options.ts", "app.ts", "caller.ts", "mcp"],
  cli: [
    "skills",
    "sandbox",
    "trust",
    "blobs",
    "ledger",
    "runs",
    "tools",
    "wire",
    "options.ts",
    "app.ts",
    "open-sources.ts",
    "caller.ts",
    "acp",
    "mcp",
    "remote",
    "install",
    "http",
    "client",
    "conformance",
  ],
  "check-skills.ts": ["skills"],
  "index.ts": [
    "check-skills.ts",
    "skills",
    "trust",
    "runs",
    "tools",
    "wire",
    "options.ts",
    "in-process",
    "acp",
    "client",
  ],
};
const foundation = ["errors.ts", "base"];
const zones = readdirSync(new URL("../src", import.meta.url)).flatMap((place) => {
  const allowed = [place, ...(mayImport[place] ?? []), ...(foundation.includes(place) ? [] : foundation)];
  return {
    target: `./src/${place}`,
    from: "./src",
    except: allowed.map((name) => `./${name}`),
    message: `src/${place} may import only ${allowed.slice(1).join(", ") || "nothing of ours"}.`,
  };
});

export default defineConfig(
  // `inside` runs elsewhere: Python, and JavaScript for Deno.
  { ignores: ["dist/**", "test/fixtures/**", "src/sandbox/inside/**"] },
  ...tseslint.configs.strictTypeChecked,
  {
    plugins: { "import-x": importX },
    settings: {
      "import-x/resolver": { typescript: { project: "tsconfig.json" } },
      // Without these, no-cycle follows no import of a TypeScript file.
      "import-x/extensions": [".ts", ".tsx", ".js"],
      "import-x/parsers": { "@typescript-eslint/parser": [".ts", ".tsx"] },
    },
    languageOptions: {
      parserOptions: { project: "./tsconfig.json", tsconfigRootDir: fileURLToPath(new URL("..", import.meta.url)) },
    },
    rules: {
      "import-x/no-cycle": "error",
      "import-x/no-default-export": "error",
      "import-x/no-restricted-paths": ["error", { zones }],
      "import-x/no-extraneous-dependencies": "error",
      "no-restricted-syntax": ["error", { selector: "ExportAllDeclaration", message: "Name every export (STYLE 13)." }],
      "no-console": "error",
      "no-empty": ["error", { allowEmptyCatch: false }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true, ignoreVoidOperator: true },
      ],
      "@typescript-eslint/no-non-null-assertion": "error",
    },
  },
  {
    files: ["test/**", "examples/**", ".config/**"],
    rules: {
      "no-console": "off",
      "import-x/no-default-export": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/explicit-module-boundary-types": "off",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    rules: { "max-lines-per-function": ["error", { max: 120, skipComments: true }] },
  },
  { files: ["**/*.js"], rules: { "@typescript-eslint/explicit-module-boundary-types": "off" } },
);
