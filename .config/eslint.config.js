import { importX } from "eslint-plugin-import-x";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The house's import direction (README, "The house"). Each room lists what it may not import;
 * neighbours take what they need from one another as values.
 */
const rooms = ["skills", "blobs", "ledger", "tools", "wire", "acp", "mcp", "client", "cli"];
const hallway = ["index.ts", "open-skills.ts", "toolkit.ts", "skillset.ts", "options.ts"];
/** What doors may use of the hallway. */
const open = ["toolkit.ts", "skillset.ts", "options.ts"];
/** @type {Record<string, string[]>} */
const mayImport = {
  skills: [],
  blobs: [],
  ledger: [],
  tools: ["skills", "blobs"],
  wire: ["skills"],
  client: ["wire"],
  acp: ["skills", "tools", "wire", ...open],
  mcp: ["skills", "blobs", "tools", "wire"],
  cli: ["skills", "blobs", "ledger", "tools", "wire", "acp", "mcp", ...open],
};
const foundation = [
  "errors.ts",
  "internal-error.ts",
  "error-id.ts",
  "clock.ts",
  "log.ts",
  "nearest.ts",
  "version.ts",
  "data-directory.ts",
];
const zones = Object.entries(mayImport).flatMap(([room, allowed]) =>
  [...rooms, ...hallway]
    .filter((other) => other !== room && !allowed.includes(other))
    .map((other) => ({
      target: `./src/${room}`,
      from: `./src/${other}`,
      message: `${room}/ does not import ${other}: see the import direction in the README.`,
    })),
);
zones.push(
  ...["acp", "mcp", "client", "cli", "index.ts"].flatMap((door) =>
    ["skillset.ts", "toolkit.ts", "open-skills.ts", "options.ts"]
      // The MCP door is behind the ACP one as well: the toolkit hands it through.
      .filter((file) => !(file === "toolkit.ts" && door === "mcp"))
      .map((file) => ({
        target: `./src/${file}`,
        from: `./src/${door}`,
        message: "the hallway does not import doors",
      })),
  ),
  ...foundation.flatMap((file) =>
    [...rooms, ...hallway].map((room) => ({
      target: `./src/${file}`,
      from: `./src/${room}`,
      message: "the foundation imports no room",
    })),
  ),
);

export default defineConfig(
  { ignores: ["dist/**", "test/fixtures/**"] },
  ...tseslint.configs.strictTypeChecked,
  {
    plugins: { "import-x": importX },
    settings: { "import-x/resolver": { typescript: { project: "tsconfig.json" } } },
    languageOptions: {
      parserOptions: { project: "./tsconfig.json", tsconfigRootDir: new URL("..", import.meta.url).pathname },
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
  { files: ["**/*.js"], rules: { "@typescript-eslint/explicit-module-boundary-types": "off" } },
);
