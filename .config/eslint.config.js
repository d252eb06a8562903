import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { importX } from "eslint-plugin-import-x";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { TypeFlags } from "typescript";

/** What transports use of `runtime/`: its inner rooms are joined by `app.ts`. */
const forTransports = ["app", "caller", "ports", "question", "runs", "tools", "trust"].map((room) => `runtime/${room}`);

/**
 * The house's import direction (`src/README.md`): what each wing or room may import, besides itself. The rooms of `runtime/` are
 * neighbours, which take what they need from one another as values. `trust` is `trust/` and its entry `trust.ts`.
 * @type {Record<string, string[]>}
 */
const mayImport = {
  base: [],
  skills: ["base"],
  wire: ["base", "skills"],
  sources: ["base", "skills", "wire"],
  "runtime/blobs": ["base"],
  "runtime/ledger": ["base"],
  "runtime/secrets": ["base"],
  "runtime/sandbox": ["base"],
  "runtime/trust": ["base", "skills", "wire", "runtime/question"],
  "runtime/question": ["base", "skills", "runtime/trust"],
  "runtime/runs": [
    ...["base", "skills", "wire", "sources"],
    ...["blobs", "question", "sandbox", "secrets", "trust"].map((room) => `runtime/${room}`),
  ],
  "runtime/caller": [
    ...["base", "skills", "wire"],
    ...["blobs", "question", "runs", "tools", "trust"].map((room) => `runtime/${room}`),
  ],
  "runtime/tools": [
    ...["base", "skills", "wire"],
    ...["blobs", "caller", "ledger", "question", "runs", "trust"].map((room) => `runtime/${room}`),
  ],
  "runtime/options": ["base", "skills", "wire", "sources"],
  "runtime/ports": ["base", "skills", "sources", "runtime"],
  "runtime/app": ["base", "skills", "sources", "runtime"],
  cluster: [
    ...["base", "skills", "wire", "sources", "serve/config", "serve/read-config"],
    ...["runtime/blobs", "runtime/ledger", "runtime/options"],
    ...forTransports,
  ],
  // Joins what a process is made of.
  "given-ports.ts": ["base", "cluster", "runtime/options", ...forTransports],
  mcp: ["base", "skills", "wire", ...forTransports],
  acp: ["base", "skills", "wire", "given-ports.ts", "mcp", "runtime/ledger", "runtime/options", ...forTransports],
  // Each on a thread of its own: what both import is what they say to each other.
  "acp/relay": [
    ...["base", "wire", "runtime/options"],
    ...["emission", "messages", "negotiation", "remote-service", "skill-service"].map((file) => `acp/${file}`),
  ],
  "acp/service": [
    ...["base", "skills", "wire", "given-ports.ts", "mcp", "runtime/ledger", "runtime/options", ...forTransports],
    ...["emission", "messages", "negotiation", "skill-service"].map((file) => `acp/${file}`),
  ],
  client: ["wire"],
  serve: [
    ...["base", "skills", "wire", "sources", "mcp", "runtime/blobs", "runtime/ledger", "runtime/options"],
    ...forTransports,
  ],
  "browser/wire": ["base", "skills", "wire", "client", "evals"],
  "browser/page": ["base", "client", "browser/wire"],
  "browser/server": [
    ...["base", "skills", "wire", "sources", "serve", "browser/wire", "evals"],
    ...["runtime/blobs", "runtime/ledger", "runtime/options", ...forTransports],
  ],
  conformance: ["base", "wire", "client", "acp"],
  evals: ["base", "skills", "wire", "client", "acp", "conformance", "runtime/options", ...forTransports],
  cli: [
    ...[
      "base",
      "skills",
      "wire",
      "sources",
      "given-ports.ts",
      "mcp",
      "acp",
      "serve",
      "browser/server",
      "conformance",
      "evals",
    ],
    ...["runtime/blobs", "runtime/ledger", "runtime/options", "runtime/sandbox", ...forTransports],
  ],
  "index.ts": ["base", "skills", "wire", "client", "acp", "runtime/options", ...forTransports],
};
/**
 * Rooms that no other room of their wing may import, but these: they use the rest of it.
 * @type {Record<string, string[]>}
 */
const lastOfWing = { "sources/install": ["update"], "sources/update": [] };

/**
 * The packages that each wing may import, besides Node's modules.
 * @type {Record<string, string[]>}
 */
const packagesOf = {
  base: [],
  skills: [
    ...["@sigstore/bundle", "@sigstore/protobuf-specs", "@sigstore/verify"],
    ...["chokidar", "gray-matter", "js-yaml", "semver", "smol-toml", "spdx-expression-parse", "zod"],
  ],
  wire: ["zod"],
  sources: ["@modelcontextprotocol/client", "semver", "smol-toml", "undici", "zod"],
  runtime: ["execa", "js-yaml", "semver", "spdx-expression-parse", "zod"],
  cluster: ["@aws-sdk/client-s3", "pg", "pg-boss", "zod"],
  mcp: ["@modelcontextprotocol/server"],
  acp: ["@agentclientprotocol/sdk", "execa"],
  client: ["@leeoniya/ufuzzy"],
  serve: ["pino", "zod"],
  "browser/wire": ["zod"],
  "browser/page": ["@leeoniya/ufuzzy", "@preact/signals", "marked", "preact"],
  "browser/server": ["zod"],
  conformance: ["@agentclientprotocol/sdk", "zod"],
  evals: ["zod"],
  cli: ["jsonc-parser", "semver", "zod"],
};
const packageRules = Object.entries(packagesOf).map(([wing, names]) => {
  const regex = `^(?!\\.|node:${names.map((name) => `|${name}(?:/|$)`).join("")})`;
  const message = `src/${wing} may import only these packages: ${names.join(", ") || "none"}.`;
  /** @type {["error", object]} */
  const rule = ["error", { patterns: [{ regex, message }] }];
  return { files: [`src/${wing}/**`], rules: { "no-restricted-imports": rule } };
});

/** @param {string} folder */
const entriesOf = (folder) =>
  readdirSync(new URL(`../src/${folder}`, import.meta.url)).filter((name) => !/^README\.md$|^__pycache__$/.test(name));
/** The folder of that name and its entry. @param {string} room */
const pathsOf = (room) =>
  [`./src/${room}`, `./src/${room}.ts`].filter((one) => existsSync(new URL(`../${one}`, import.meta.url)));
const zones = [
  ...Object.entries(mayImport).map(([room, others]) => ({
    target: pathsOf(room),
    from: "./src",
    except: [room, ...others].flatMap(pathsOf).map((one) => one.replace("./src", ".")),
    message: `src/${room} may import only ${others.join(", ") || "nothing of ours"}.`,
  })),
  ...Object.entries(lastOfWing).map(([room, users]) => {
    const [wing = "", name = ""] = room.split("/");
    return {
      target: entriesOf(wing)
        .filter((entry) => ![name, ...users].includes(entry.replace(/\.ts$/, "")))
        .map((entry) => `./src/${wing}/${entry}`),
      from: pathsOf(room),
      message: `Nothing else in src/${wing} may import src/${room}.`,
    };
  }),
];
const rooms = ["", "browser/", "runtime/"].flatMap((wing) => entriesOf(wing).map((entry) => wing + entry));
const isListed = (/** @type {string} */ room) =>
  Object.keys(mayImport).some((name) => name === room || `${name}.ts` === room || name.startsWith(`${room}/`));
for (const room of rooms)
  if (!isListed(room)) throw new Error(`.config/eslint.config.js lists no imports of src/${room}.`);

const source = fileURLToPath(new URL("../src/", import.meta.url));
/**
 * A file can be seen by the folder that holds its folder, and from there down; `base/` and `wire/` by all. What lies deeper is the private
 * matter of its folder, and `trust.ts` beside `trust/` is its entry.
 * @type {import("eslint").Rule.RuleModule}
 */
const noPastEntry = {
  create(context) {
    const folder = path.relative(source, path.dirname(context.filename)).replaceAll("\\", "/");
    const check = (/** @type {{ source?: unknown, type: string }} */ node) => {
      const { value } = /** @type {{ value?: unknown }} */ (node.source ?? {});
      if (typeof value !== "string" || !value.startsWith(".")) return;
      const target = path.posix.join(folder, value);
      const seenFrom = path.posix.dirname(path.posix.dirname(target));
      if (/^(?:base|wire)\//.test(target) || seenFrom === "." || `${folder}/`.startsWith(`${seenFrom}/`)) return;
      const message = `src/${target} is seen only in src/${seenFrom}: import it from an entry there.`;
      context.report({ node: /** @type {import("eslint").Rule.Node} */ (node), message });
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ImportExpression: check };
  },
};

const limit = /^(?:most|longest|largest|highest|fewest|shortest|least|lowest)(?:[A-Z]|$)/;
const time =
  /^(?:timeout|interval|period|milliseconds|minutes|delay|patience)$|[a-z](?:Timeout|Interval|Period|Time|Seconds|Milliseconds|Minutes|Delay|Patience)$/;
/**
 * Numbers whose name and unit something outside has: seconds as people read and headers have them, columns, options of the command line, a
 * field of pg-boss, of a form, of Sigstore.
 */
const namedOutside =
  /^(?:(?:max)?[rR]etry(?:After)?Seconds|(?:default|max)(?:Lease|Drain)Seconds|(?:lease|longWait|heartbeat|maxTimeout)Seconds|(?:default)?[iI]dleMinutes|integratedTime)$/;
/** @typedef {{ getTypeAtLocation: (node: import("eslint").Rule.Node) => import("typescript").Type }} Types */
/**
 * A number that limits is `max…` or `min…`, a time is `…Ms`. What is no number by its type, such as a function, is free.
 * @type {import("eslint").Rule.RuleModule}
 */
const numberNames = {
  create(context) {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- ESLint does not know the services of its parser.
    const /** @type {Types} */ services = context.sourceCode.parserServices;
    /** @param {import("eslint").Rule.Node & { name?: string }} node */
    const check = (node) => {
      const { name = "" } = node;
      if (namedOutside.test(name) || !(limit.test(name) || time.test(name))) return;
      const type = services.getTypeAtLocation(node);
      const isNumber = (type.isUnion() ? type.types : [type]).some(({ flags }) => (flags & TypeFlags.NumberLike) !== 0);
      const message = limit.test(name) ? `${name} limits: name it max… or min….` : `${name} is a time: name it …Ms.`;
      if (isNumber) context.report({ node, message });
    };
    return {
      "VariableDeclarator > Identifier.id": check,
      ":matches(:function, TSFunctionType, TSMethodSignature, TSEmptyBodyFunctionExpression) > Identifier.params":
        check,
      ":function > AssignmentPattern.params > Identifier.left": check,
      "ArrayPattern > Identifier.elements": check,
      "ObjectPattern > Property[shorthand=false] > Identifier.value": check,
      "TSPropertySignature > Identifier.key": check,
      "PropertyDefinition > .key": check,
    };
  },
};

export default defineConfig(
  // `inside` runs elsewhere: Python, and JavaScript for Deno.
  { ignores: [".build/**", "dist/**", "test/fixtures/**", "src/runtime/sandbox/inside/**"] },
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
      "import-x/order": ["error", { groups: ["builtin", "external"] }],
      "no-restricted-syntax": ["error", { selector: "ExportAllDeclaration", message: "Name every export." }],
      "no-console": "error",
      "object-shorthand": ["error", "properties"],
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
    plugins: { house: { rules: { "no-past-entry": noPastEntry, "number-names": numberNames } } },
    rules: {
      "house/no-past-entry": "error",
      "house/number-names": "error",
      "max-lines-per-function": ["error", { max: 120, skipComments: true }],
    },
  },
  ...packageRules,
  { files: ["**/*.js"], rules: { "@typescript-eslint/explicit-module-boundary-types": "off" } },
);
