// node hostile-server.js MODE: a server over stdio that speaks revision 2025-11-25 by hand, and misbehaves as MODE says.
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "", extra = ""] = process.argv.slice(2);
const text = "---\nname: alpha\ndescription: Does alpha.\n---\n";
/** @param {string} content */
const digestOf = (content) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
/** @param {string} name @param {string} content */
const fileOf = (name, content) => ({ uri: `skill://alpha/${name}`, digest: digestOf(content), size: content.length });
const entry = {
  uri: "skill://alpha/SKILL.md",
  frontmatter: { name: "alpha", description: "Does alpha." },
  resources: [fileOf("SKILL.md", text), fileOf("a.md", "aa")],
};
/** @type {Record<string, string>} */
const contents = { "skill://alpha/SKILL.md": text, "skill://alpha/a.md": "aa" };
let reads = 0;

if (mode === "child") {
  // It would stay.
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync(extra, String(child.pid));
}
if (mode === "environment") writeFileSync(extra, Object.keys(process.env).sort().join(" "));
if (mode === "deaf") process.on("SIGTERM", () => undefined);
if (mode === "ends") {
  process.stderr.write("first line\nCannot find \u001b[31mmodule\n");
  process.exit(3);
}

/** @param {unknown} value */
const say = (value) => process.stdout.write(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);

/** @typedef {{ cursor?: string, uri?: string }} Params */
/** @type {Record<string, (params: Params) => unknown>} */
const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    serverInfo: { name: "hostile", version: "1" },
    capabilities: mode === "without" ? {} : { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
  }),
  "skills/list": ({ cursor }) => {
    if (mode === "silent") return undefined;
    if (mode === "endless-pages") return { skills: [], nextCursor: `${Number(cursor ?? 0) + 1}` };
    if (mode === "moving-list")
      return cursor === undefined ? { skills: [entry], nextCursor: "2" } : { skills: [entry] };
    if (mode === "dynamic") return { skills: [{ ...entry, resources: "dynamic" }] };
    if (mode === "invalid") return { skills: [{ ...entry, resources: undefined }, "nothing", { uri: 7 }] };
    if (mode === "huge-entry")
      return { skills: [{ ...entry, resources: [...entry.resources, { ...fileOf("big", ""), size: 60e6 }] }] };
    if (mode === "many-files")
      return {
        skills: [
          { ...entry, resources: [entry.resources[0], ...Array.from({ length: 1200 }, (_, n) => fileOf(`${n}`, ""))] },
        ],
      };
    if (mode === "path") return { skills: [{ ...entry, resources: [entry.resources[0], fileOf(extra, "aa")] }] };
    if (mode === "same-names") return { skills: ["sales", "support"].map((team) => named(team)) };
    return { skills: [entry] };
  },
  "skills/get": () => {
    if (mode === "changing")
      return { skill: { ...entry, resources: [fileOf("SKILL.md", text), fileOf("a.md", "bb")] } };
    return { skill: entry };
  },
  "resources/read": ({ uri = "" }) => {
    reads += 1;
    if ((mode === "changing" || mode === "wrong-digest") && uri.endsWith("a.md"))
      return { contents: [{ uri, text: "bb" }] };
    if (mode === "wrong-size" && uri.endsWith("a.md")) return { contents: [{ uri, text: "bbb" }] };
    if (mode === "frontmatter" && uri.endsWith("SKILL.md")) return { contents: [{ uri, text }] };
    if (mode === "other-file") return { contents: [{ uri: "skill://alpha/other", text }] };
    if (mode === "dies" && reads === 2) process.exit(0);
    return { contents: [{ uri, text: contents[uri] ?? "" }] };
  },
};

/** @param {string} team */
function named(team) {
  const uri = `skill://${team}/refunds/SKILL.md`;
  const own = "---\nname: refunds\ndescription: Refunds.\n---\n";
  return {
    uri,
    frontmatter: { name: "refunds", description: "Refunds." },
    resources: [{ uri, digest: digestOf(own), size: own.length }],
  };
}
if (mode === "frontmatter") entry.frontmatter.description = "Does something harmless.";

for await (const line of createInterface({ input: process.stdin })) {
  /** @type {unknown} */
  const message = JSON.parse(line);
  const {
    id,
    method,
    params = {},
  } = /** @type {{ id?: number | string, method: string, params?: Params }} */ (message);
  if (mode === "strict" && method === "server/discover") process.exit(1);
  if (mode === "long-line") process.stdout.write("x".repeat(33 * 1024 * 1024));
  else if (id === undefined) continue;
  else if (mode === "noise")
    say(`listening\n[1,2]\n{"a":\n{"jsonrpc":"2.0","method":"notifications/message","params":{}}`);
  if (mode === "many-values" && method === "skills/list")
    say(`{"jsonrpc":"2.0","id":${id},"result":[${"0,".repeat(200_001)}0]}`);
  const answer = methods[method];
  const result = answer?.(params);
  if (answer === undefined) say({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown \u001b[31mmethod" } });
  else if (mode === "error" && method === "skills/list")
    say({ jsonrpc: "2.0", id, error: { code: -32603, message: "no \u001b[31mdatabase" } });
  else if (result !== undefined) say({ jsonrpc: "2.0", id, result });
}
if (mode === "deaf") setInterval(() => undefined, 1_000);
