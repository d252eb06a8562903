import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findDenoFiles } from "../src/runtime/sandbox/pyodide/pyodide-tier.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = path.join(root, "node_modules");
const run = promisify(execFile);
const { dependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};

describe("the package as npm delivers it, in an empty folder", () => {
  let folder = "";
  const installed = (...names: readonly string[]): string => path.join(folder, "node_modules", "acp-skills", ...names);

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "acp-skills-package-"));
    // The scripts would build once more. The name of the archive is the last line.
    const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
    const packed = execFileSync("npm", pack, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
    execFileSync("tar", ["-xzf", packed.trim().split("\n").at(-1) ?? ""], { cwd: folder });
    for (const name of Object.keys(dependencies)) {
      const link = path.join(folder, "node_modules", name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(root, "node_modules", name), link, "junction");
    }
    cpSync(path.join(folder, "package"), installed(), { recursive: true });
  }, 120_000);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test("has what each relative link of its documents leads to, headings too", () => {
    const documents = readdirSync(installed(), { recursive: true, encoding: "utf8" }).filter((name) =>
      /(?:README|COMPATIBILITY|api)\.md$/.test(name),
    );
    expect(documents).toEqual(
      expect.arrayContaining(["README.md", path.join("docs", "api.md"), path.join("src", "acp", "README.md")]),
    );
    const broken = documents.flatMap((name) => {
      const links = [...readFileSync(installed(name), "utf8").matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)];
      return links.flatMap(([, link = ""]) =>
        leads(new URL(link, pathToFileURL(installed(name)))) ? [] : `${name}: ${link}`,
      );
    });
    expect(broken).toEqual([]);
  });

  test("runs, and is imported by its names", () => {
    const said = execFileSync(process.execPath, [installed("dist", "cli", "main.js"), "--help"], { encoding: "utf8" });
    expect(said).toContain("acp-skills");
    const program =
      'import "acp-skills"; import "acp-skills/client"; import "acp-skills/package.json" with { type: "json" };';
    execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], { cwd: folder });
  }, 60_000);

  test("bundles the element with esbuild as its README says, with its styles where it looks for them", async () => {
    const readme = readFileSync(installed("src", "browser", "README.md"), "utf8");
    const [, entries = "", names = ""] =
      /`esbuild (.+?) --bundle --format=esm --entry-names=(\S+) --outdir=out`/.exec(readme) ?? [];
    writeFileSync(
      path.join(folder, "app.js"),
      'import "acp-skills/browser";\nimport { createSkillsStore } from "acp-skills/client";\ncreateSkillsStore();\n',
    );
    const out = path.join(folder, "out");
    const options = { bundle: true, format: "esm", absWorkingDir: folder, outdir: out, logLevel: "silent" } as const;
    await build({ ...options, entryPoints: entries.split(" "), entryNames: names });
    const [script = "", ...more] = readdirSync(out).filter((name) => name.endsWith(".js"));
    expect(more).toEqual([]);
    const bundled = readFileSync(path.join(out, script), "utf8");
    const looked = [...bundled.matchAll(/new URL\((["'`])([^"'`]+)\1, ?import\.meta\.url\)/g)].map(
      ([, , name = ""]) => name,
    );
    expect(looked).toContain("browser.css");
    for (const name of looked) expect(statSync(path.join(out, name)).size, name).toBeGreaterThan(10_000);
  }, 60_000);

  describe("in a program of its own", () => {
    /** A directory with these files, a skill, and the package in its node_modules. */
    function consumer(name: string, files: Readonly<Record<string, string>>): string {
      const directory = path.join(folder, name);
      const skill = path.join(directory, "skills", "pdf");
      mkdirSync(skill, { recursive: true });
      writeFileSync(path.join(skill, "SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead it.\n");
      symlinkSync(path.join(folder, "node_modules"), path.join(directory, "node_modules"), "junction");
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(directory, file), text);
      return directory;
    }
    /** The complaints of the compiler. */
    function compile(directory: string, file: string, options: object = {}): string {
      const compilerOptions = { ...strictest, ...options };
      writeFileSync(path.join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
      const compiler = path.join(root, "node_modules/typescript/bin/tsc");
      const { stdout, stderr } = spawnSync(process.execPath, [compiler], { cwd: directory, encoding: "utf8" });
      return stdout + stderr;
    }
    /** What a program prints that lists skills; it must not print anything on stderr. */
    const listed = async (directory: string, file: string): Promise<unknown> => {
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: directory });
      expect(stderr).toBe("");
      return JSON.parse(stdout);
    };

    test("has types that the strictest compiler accepts, the declarations that they refer to included", () => {
      const directory = consumer("types", { "package.json": '{"type":"module"}', "main.ts": typed });
      expect(compile(directory, "main.ts")).toBe("");
    }, 120_000);

    test("is required by CommonJS, in JavaScript and compiled from TypeScript without the types of browsers", async () => {
      const directory = consumer("commonjs", {
        "plain.cjs": `const { openSkills } = require("acp-skills");\n${listing.replace("await main()", "void main()")}`,
        "typed.cts": typedCommonJs,
      });
      expect(await listed(directory, "plain.cjs")).toEqual({ names: ["pdf"], told: [] });
      expect(compile(directory, "typed.cts", { noEmit: false, lib: ["es2023"] })).toBe("");
      expect(await listed(directory, "typed.cjs")).toEqual(["pdf"]);
    }, 120_000);

    test("lists skills in a bundle of esbuild on the calling thread, and on its own thread where packages are external", async () => {
      const directory = consumer("esbuild", { "main.mjs": moduleListing });
      const options = { bundle: true, platform: "node", format: "esm", absWorkingDir: directory } as const;
      await build({ ...options, entryPoints: ["main.mjs"], outfile: "bundle/app.mjs", logLevel: "silent" });
      expect(await listed(directory, "bundle/app.mjs")).toEqual(onCallingThread);
      await build({ ...options, entryPoints: ["main.mjs"], outfile: "external/app.mjs", packages: "external" });
      expect(await listed(directory, "external/app.mjs")).toEqual({ names: ["pdf"], told: [] });
    }, 120_000);

    test("lists skills in a bundle of rolldown on the calling thread, and on its own thread where the package is external", async () => {
      const directory = consumer("rolldown", { "main.mjs": moduleListing });
      const rolldown = [path.join(root, "node_modules/rolldown/bin/cli.mjs"), "main.mjs", "--platform", "node"];
      await run(process.execPath, [...rolldown, "-d", "bundle"], { cwd: directory });
      expect(await listed(directory, "bundle/main.js")).toEqual(onCallingThread);
      await run(process.execPath, [...rolldown, "-d", "external", "--external", "acp-skills"], { cwd: directory });
      expect(await listed(directory, "external/main.js")).toEqual({ names: ["pdf"], told: [] });
    }, 120_000);

    const parts = findDenoFiles([root], root);
    test.skipIf(typeof parts === "string")(
      "lists skills under Deno, and ends without an error",
      async () => {
        const deno = typeof parts === "string" ? "" : parts.deno;
        const manifest = JSON.stringify({ type: "module", dependencies: { "acp-skills": "*" } });
        const directory = consumer("deno", { "package.json": manifest, "main.mjs": moduleListing });
        const env = {
          ...process.env,
          DENO_DIR: path.join(directory, "cache"),
          DENO_NO_UPDATE_CHECK: "1",
          NO_COLOR: "1",
        };
        const offline = ["run", "--allow-all", "--cached-only", "--no-remote", "--node-modules-dir=manual"];
        const { stdout, stderr } = await run(deno, [...offline, "main.mjs"], { cwd: directory, env });
        expect(stderr).toBe("");
        expect(JSON.parse(stdout)).toEqual({ names: ["pdf"], told: [] });
      },
      120_000,
    );

    // Where npm leaves it unless it runs the script of the package, which moves it; until then there is a text of that name.
    const bun = [
      "bun/bin/bun.exe",
      ...["x64", "aarch64"].map((cpu) => `@oven/bun-${process.platform}-${cpu}/bin/bun`),
    ].find((file) => (statSync(path.join(modules, file), { throwIfNoEntry: false })?.size ?? 0) > 1024 ** 2);
    test.skipIf(bun === undefined)(
      "lists skills under Bun and runs code as under Node, and ends without an error",
      async () => {
        const directory = consumer("bun", { "main.mjs": moduleListing, "run.mjs": running });
        const inBun = async (file: string): Promise<unknown> => {
          const { stdout, stderr } = await run(path.join(modules, bun ?? ""), [file], { cwd: directory });
          expect(stderr).toBe("");
          return JSON.parse(stdout);
        };
        expect(await inBun("main.mjs")).toEqual({ names: ["pdf"], told: [] });
        expect(await inBun("run.mjs")).toEqual(await listed(directory, "run.mjs"));
      },
      120_000,
    );
  });
});

const strictest = {
  target: "es2023",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: [],
  noEmit: true,
};

const typed = `
import { describeApprovalStore, describeBlobStore, describeSandboxPort } from "acp-skills/testing";
import type { ApprovalStore, OpenPort } from "acp-skills/ports";
import { isSkillsError, openSkills, type OpenSkillsOptions, type Skills, withSkills, wrapStream } from "acp-skills";
import { createSkillsStore, openSearch, type StoredSkill } from "acp-skills/client";
import "acp-skills/browser";
const options: OpenSkillsOptions = { cwd: ".", visible: ({ kind }) => kind === "action" };
const skills: Skills = await openSkills(options);
const { skills: found } = await skills.call("list_skills", { query: "pdf" });
const first: string | undefined = found[0]?.name;
const run = await skills.call("run_code", { language: "python", code: "" });
const failure: string | undefined = run.status === "failed" ? run.error.type : undefined;
const problem: unknown = await skills.close().catch((error: unknown) => error);
const option: string | undefined = isSkillsError(problem, "INVALID_OPTIONS") ? problem.facts.option : undefined;
const stored: readonly StoredSkill[] = openSearch(createSkillsStore().skills)("pdf");
const approvals: OpenPort<"approvals"> = () => ({}) as ApprovalStore;
describeApprovalStore("own", () => ({ store: {} as ApprovalStore }));
// @ts-expect-error: the contract knows what a store is.
describeApprovalStore("own", () => ({ store: 42 }));
const ends: Promise<void> = withSkills({ connect: () => ({ closed: Promise.resolve() }) }).connect(null as never).closed;
const rows = await skills.forSession({ cwd: "/", ask: async () => "once" }).call("list_skills");
console.log(first, failure, option, stored, withSkills, wrapStream, approvals, describeBlobStore, describeSandboxPort, ends, rows);
// @ts-expect-error This option is misspelled.
await openSkills({ cw: "." });
// @ts-expect-error An option is left out, not undefined.
await openSkills({ cwd: undefined });
`;

const typedCommonJs = `
import acpSkills = require("acp-skills");
import type { Skills } from "acp-skills";
async function main(): Promise<void> {
  const skills: Skills = await acpSkills.openSkills({ directories: ["skills"], defaultRoots: false, dataDirectory: "data" });
  console.log(JSON.stringify((await skills.list()).map(({ name }) => name)));
  await skills.close();
}
void main();
`;

/** Prints the names of the skills, and what was logged. */
const listing = `
async function main() {
  const told = [];
  const log = (level, message) => told.push(message);
  const skills = await openSkills({ directories: ["skills"], defaultRoots: false, dataDirectory: "data", log });
  const names = (await skills.list()).map(({ name }) => name);
  await skills.close();
  console.log(JSON.stringify({ names, told }));
}
await main();
`;
const moduleListing = `import { openSkills } from "acp-skills";\n${listing}`;
/** Prints the result of a run, or why nothing is run. */
const running = `
import { openSkills } from "acp-skills";
const skills = await openSkills({ defaultRoots: false, dataDirectory: "data" });
const code = "import os\\ndef main():\\n  open('é.txt', 'w').close()\\n  return os.listdir('.')";
const ran = await skills.call("run_code", { language: "python", code }).catch(({ message }) => ({ output: message }));
await skills.close();
console.log(JSON.stringify(ran.output ?? ran.error));
`;
const onCallingThread = {
  names: ["pdf"],
  told: [expect.stringMatching(/^Skills are read on the calling thread: .*external/)],
};

function leads(link: URL): boolean {
  const { hash } = link;
  link.hash = "";
  if (!existsSync(link)) return false;
  const headings = hash === "" ? [] : readFileSync(link, "utf8").matchAll(/^#+ (.*)$/gm);
  const anchors = Array.from(headings, ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, "")
      .replaceAll(" ", "-"),
  );
  return hash === "" || anchors.includes(hash.slice(1));
}
