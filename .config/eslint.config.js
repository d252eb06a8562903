import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importX } from "eslint-plugin-import-x";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The house's import direction (`src/README.md`): what each wing may import, besides itself.
 * @type {Record<string, string[]>}
 */
const mayImport = {
  base: [],
  skills: ["base"],
  wire: ["base", "skills"],
  sources: ["base", "skills", "wire"],
  runtime: ["base", "skills", "wire", "sources"],
  mcp: ["base", "skills", "wire", "sources", "runtime"],
  acp: ["base", "skills", "wire", "sources", "runtime", "mcp"],
  client: ["wire"],
  serve: ["base", "skills", "wire", "sources", "runtime", "mcp"],
  "browser/wire": ["skills", "wire"],
  "browser/page": ["browser/wire", "base", "client", "wire"],
  "browser/server": ["browser/wire", "base", "skills", "wire", "sources", "runtime", "mcp", "serve", "client"],
  conformance: ["base", "wire", "client", "acp"],
  cli: ["base", "skills", "wire", "sources", "runtime", "mcp", "acp", "client", "serve", "browser", "conformance"],
  "index.ts": ["base", "skills", "wire", "sources", "runtime", "acp", "client"],
};
/**
 * The packages that each wing may import, besides Node's modules.
 * @type {Record<string, string[]>}
 */
const packagesOf = {
  base: [],
  skills: ["chokidar", "gray-matter", "js-yaml", "smol-toml", "spdx-expression-parse", "zod"],
  wire: ["zod"],
  sources: ["smol-toml", "undici", "zod"],
  runtime: ["execa", "js-yaml", "semver", "spdx-expression-parse", "zod"],
  mcp: ["@modelcontextprotocol/server"],
  acp: ["@agentclientprotocol/sdk", "execa"],
  client: ["@leeoniya/ufuzzy"],
  serve: ["@hono/node-server", "hono", "pino", "zod"],
  "browser/wire": [],
  "browser/page": ["@leeoniya/ufuzzy", "@preact/signals", "marked", "preact"],
  "browser/server": ["zod"],
  conformance: ["@agentclientprotocol/sdk", "zod"],
  cli: ["jsonc-parser", "semver", "zod"],
};
const packageRules = Object.entries(packagesOf).map(([wing, names]) => {
  const regex = `^(?!\\.|node:${names.map((name) => `|${name}(?:/|$)`).join("")})`;
  const message = `src/${wing} may import only these packages: ${names.join(", ") || "none"}.`;
  /** @type {["error", object]} */
  const rule = ["error", { patterns: [{ regex, message }] }];
  return { files: [`src/${wing}/**`], rules: { "no-restricted-imports": rule } };
});

const zones = Object.entries(mayImport).map(([wing, others]) => ({
  target: `./src/${wing}`,
  from: "./src",
  except: [wing, ...others].map((name) => `./${name}`),
  message: `src/${wing} may import only ${others.join(", ") || "nothing of ours"}.`,
}));
const unlisted = readdirSync(new URL("../src", import.meta.url)).filter(
  (name) => name !== "README.md" && !Object.keys(mayImport).some((wing) => wing.split("/")[0] === name),
);
if (unlisted.length > 0)
  throw new Error(`.config/eslint.config.js lists no imports of src/${unlisted.join(", src/")}.`);

export default defineConfig(
  // `inside` runs elsewhere: Python, and JavaScript for Deno.
  { ignores: ["dist/**", "test/fixtures/**", "src/runtime/sandbox/inside/**"] },
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
  ...packageRules,
  { files: ["**/*.js"], rules: { "@typescript-eslint/explicit-module-boundary-types": "off" } },
);
