import { execFileSync } from "node:child_process";
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
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
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
    // npm caches its compiled code in the temporary directory otherwise.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
    const packed = execFileSync("npm", pack, { cwd: root, encoding: "utf8", env, shell: process.platform === "win32" });
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
});

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
