// Bundles what the compiler left in .build/ into dist/: what always runs together is one file, so that a start loads few of them.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, normalizePath } from "vite";

const source = normalizePath(fileURLToPath(new URL("../src", import.meta.url)));
const compiled = fileURLToPath(new URL("../.build", import.meta.url));
const target = fileURLToPath(new URL("../dist", import.meta.url));

/** Packages that the first session needs: their unused parts are most of what would be parsed. All others stay where npm installs them. */
const bundled = [
  ...[/^zod($|\/)/, /^semver($|\/)/, /^js-yaml($|\/)/],
  // With what its client reads streams of events by.
  ...[/^@modelcontextprotocol\/(client|server|core)($|\/)/, /^eventsource-parser($|\/)/],
];

/** What is loaded together: these modules and all that they import before they run. Earlier groups come first. */
const groups = {
  // An old Node has to be able to read it: it says which Node is needed.
  version: ["base/version.ts"],
  location: ["base/paths/location.ts"],
  relay: [
    "cli/run-command.ts",
    "cli/commands/serve/wrap.ts",
    "acp/relay/intercept-bytes.ts",
    "acp/relay/interceptor.ts",
    "acp/remote-service.ts",
  ],
  service: ["acp/service/serve-port.ts"],
  session: ["acp/service/local-service.ts"],
  tools: [
    "mcp/mcp-server.ts",
    "mcp/serve-mcp.ts",
    "mcp/streamable-http.ts",
    "runtime/tools/toolbox.ts",
    "runtime/runs.ts",
    "runtime/runs/run-environment.ts",
    "runtime/app/local-trust.ts",
  ],
};

/** @type {Map<string, string>} */
const groupOf = new Map();
/** Finds the group of each module. @type {import("vite").Plugin} */
const findGroups = {
  name: "groups",
  buildEnd() {
    for (const [name, entries] of Object.entries(groups)) {
      const waiting = entries.map((entry) => `${source}/${entry}`);
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        if (!id.startsWith(source) || groupOf.has(id)) continue;
        const module = this.getModuleInfo(id);
        if (module === null) throw new Error(`The group ${name} names ${id}, which is not bundled.`);
        groupOf.set(id, name);
        waiting.push(...module.importedIds);
      }
    }
  },
};
/** Connections by older transports, and logins of people, which the client of MCP imports for those who want them. */
const notUsed = "export const EventSource = undefined; export default undefined;";
/** What is not used of what packages import. @type {Record<string, string>} */
const replaced = {
  // Importing all of it reads each property, which loads streams, reports and more.
  "node:process": "export default globalThis.process;",
  // With Ajv, which a server gets only if it brings no validator.
  "@modelcontextprotocol/server/_shims":
    'export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from "@modelcontextprotocol/server/validators/cf-worker"; export const process = globalThis.process;',
  "@modelcontextprotocol/client/_shims":
    'export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from "@modelcontextprotocol/client/validators/cf-worker"; export const CORS_IS_POSSIBLE = false;',
};
for (const name of ["eventsource", "pkce-challenge", "jose"]) replaced[name] = notUsed;
/** @type {import("vite").Plugin} */
const replace = {
  name: "replace",
  enforce: "pre",
  resolveId: (id) => (Object.hasOwn(replaced, id) ? `\0${id}` : undefined),
  load: (id) => (id.startsWith("\0") ? replaced[id.slice(1)] : undefined),
};
// What belongs to two chunks goes to the one with the higher priority.
const chunks = [
  // Servers are for every session, clients only for sources: what both use is with the servers.
  ...["zod", "semver", "js-yaml", "@modelcontextprotocol/(?:server|core)", "@modelcontextprotocol/client"].map(
    (name) => ({
      name: name
        .replace("@", "")
        .replace(/\/\(.*/, "")
        .replace("/", "-"),
      test: new RegExp(`/node_modules/${name}/`),
    }),
  ),
  ...Object.keys(groups).map((name) => ({
    name,
    test: (/** @type {string} */ id) => groupOf.get(id) === name,
  })),
].map((chunk, at) => ({ ...chunk, priority: 100 - at }));

const entries = ["index", "cli/main", "acp/service/worker", "runtime/ports"];
await build({
  configFile: false,
  root: source,
  logLevel: "warn",
  plugins: [findGroups, replace],
  ssr: { noExternal: bundled },
  build: {
    ssr: true,
    target: "node20.19",
    outDir: target,
    emptyOutDir: false,
    minify: false,
    sourcemap: true,
    // What is bundled asks for its license to come with it.
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      checks: { ineffectiveDynamicImport: false },
      input: Object.fromEntries(entries.map((entry) => [entry, `${source}/${entry}.ts`])),
      output: {
        entryFileNames: "[name].js",
        // It finds the other files of the package from its own place.
        chunkFileNames: ({ name }) => (name === "location" ? "base/paths/location.js" : "chunks/[name].js"),
        codeSplitting: { groups: chunks },
        // Reading and compiling text is a part of each start. Names stay, for stack traces.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: false } },
        comments: false,
      },
    },
  },
});

/**
 * Copies a compiled file and all that it imports.
 * @param {string} file
 * @param {".js" | ".d.ts"} extension
 */
function copy(file, extension, copied = new Set()) {
  if (copied.has(file)) return;
  copied.add(file);
  const text = readFileSync(path.join(compiled, file), "utf8");
  mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
  cpSync(path.join(compiled, file), path.join(target, file));
  for (const [, name = ""] of text.matchAll(/(?:from|import|import\()\s*"(\.[^"]+)"/g))
    copy(path.join(path.dirname(file), name.replace(/\.[jt]s$/, extension)), extension, copied);
}
for (const entry of ["index.d.ts", "runtime/ports.d.ts", "client/index.d.ts", "browser/page/element-types.d.ts"])
  copy(entry, ".d.ts");
// The contracts of the ports are among the tests.
await build({
  configFile: false,
  root: source,
  logLevel: "warn",
  build: {
    ssr: true,
    target: "node20.19",
    outDir: `${target}/testing`,
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input: { testing: normalizePath(fileURLToPath(new URL("../test/contract/testing.ts", import.meta.url))) },
      output: { entryFileNames: "[name].js" },
    },
  },
});
const declarations = path.join(compiled, "declarations", "test");
/**
 * With the declarations that it refers to: those of tests, and those of the sources, which are beside `testing`.
 * @param {string} file
 */
function copyContract(file) {
  const place = path.join(target, "testing", file);
  if (existsSync(place)) return;
  const text = readFileSync(path.join(declarations, file), "utf8").replaceAll("../src/", "../");
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, text);
  for (const [, name = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
    const used = path.relative(target, path.resolve(path.dirname(place), name)).replace(/\.[jt]s$/, ".d.ts");
    const own = path.relative("testing", used);
    if (own.startsWith("..")) copy(used, ".d.ts");
    else copyContract(own);
  }
}
copyContract("contract/testing.d.ts");
cpSync(new URL("../test/contract/sandbox/prelude.py", import.meta.url), path.join(target, "testing", "prelude.py"));
// Runs in browsers too, where the bundler of the page takes what it uses.
copy("client/index.js", ".js");
