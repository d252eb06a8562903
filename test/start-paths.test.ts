import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runProcess } from "./cli/run-cli.ts";
import { skillText, useTemporaryProject } from "./cli/temporary-project.ts";

const project = useTemporaryProject();
/** What the compiler wrote: a file a module. */
const compiled = new URL("../.build/", import.meta.url);
const dist = new URL("../dist/", import.meta.url);

const hook = `import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + "\\n");
  return await next(url, context);
}`;

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** The packages that a command loads from its start to its end, in alphabetical order. */
async function packagesLoadedBy(args: readonly string[]): Promise<readonly string[]> {
  const loaded = project.at("loaded");
  const preload = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(hook))});`;
  const env = { LOADED: loaded, NODE_OPTIONS: `--import ${dataUrl(preload)}` };
  expect(await runProcess(args, { cwd: project.directory, env })).toMatchObject({ code: 0 });
  return packagesIn(readFileSync(loaded, "utf8"));
}

function packagesIn(text: string): readonly string[] {
  const names = Array.from(text.matchAll(/\/node_modules\/(?!.*\/node_modules\/)((?:@[^/\n]+\/)?[^/\n]+)/g));
  return [...new Set(names.map(([, name = ""]) => name))].sort();
}

/** Each is slow to load, and is needed for little of what the command does. */
test.each([
  { args: ["--help"], packages: [] },
  { args: ["list", "--skills", "skills", "--no-default-roots"], packages: ["js-yaml"] },
  { args: ["check", "skills"], packages: ["js-yaml"] },
  { args: ["complete", "--", "sh"], packages: ["js-yaml"] },
])("acp-skills $args loads $packages", async ({ args, packages }) => {
  project.write("skills/one/SKILL.md", skillText("one"));
  // Frontmatter that the small parser leaves to js-yaml.
  project.write("skills/two/SKILL.md", skillText("two").replace("description: ", "description: >\n  "));
  project.write(".agents/skills/two/SKILL.md", skillText("two").replace("description: ", "description: >\n  "));
  expect(packages).toEqual(expect.arrayContaining([...(await packagesLoadedBy(args))]));
});

test("list loads what verifies signatures only where a skill has one", async () => {
  project.write("skills/one/SKILL.md", skillText("one"));
  const args = ["list", "--skills", "skills", "--no-default-roots"];
  const isSigstore = (name: string): boolean => name.startsWith("@sigstore/");
  expect((await packagesLoadedBy(args)).filter(isSigstore)).toEqual([]);
  project.write("skills/one/skill.sigstore.json", "{}");
  expect((await packagesLoadedBy(args)).filter(isSigstore)).toContain("@sigstore/verify");
});

/** The files and packages that a module imports before it runs, and those that they import. */
function importedBy(
  entry: string,
  root = compiled,
): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const follow = (file: URL): void => {
    if (files.has(file.href)) return;
    files.add(file.href);
    const text = readFileSync(file, "utf8");
    for (const [, name = ""] of text.matchAll(/(?<=^|;)(?:import|export)(?:[\s{*][^"';]*?\bfrom)?\s*"([^"]+)"/gm)) {
      if (name.startsWith(".")) follow(new URL(name, file));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  };
  follow(new URL(entry, root));
  return { files: [...files].map((file) => file.slice(root.href.length)), packages: [...packages].sort() };
}

test.each([
  { entry: "cli/run-command.js", expected: [] },
  { entry: "cli/commands/serve/wrap.js", expected: [] },
  { entry: "cli/commands/serve/proxy.js", expected: [] },
  { entry: "acp/wrap-command.js", expected: [] },
  { entry: "acp/service/worker.js", expected: [] },
  { entry: "client/index.js", expected: ["@leeoniya/ufuzzy"] },
])("$entry imports the packages $expected before it runs", ({ entry, expected }) => {
  const { files, packages } = importedBy(entry);
  expect(packages).toEqual(expected);
  expect(files).toContain(entry);
});

test("loads few files and no command before it knows which command to run", () => {
  const { files } = importedBy("cli/run-command.js");
  expect(files).toContain("cli/run-command.js");
  expect(files.filter((file) => file.startsWith("cli/commands/"))).toEqual(["cli/commands/commands.js"]);
  expect(files.length).toBeLessThan(20);
});

test.each([
  { entry: "cli/main.js", expected: ["chunks/version.js", "cli/main.js"] },
  {
    entry: "chunks/wrap.js",
    expected: ["base/paths/location.js", "chunks/relay.js", "chunks/version.js", "chunks/wrap.js"],
  },
  {
    entry: "acp/service/worker.js",
    expected: [
      "acp/service/worker.js",
      "base/paths/location.js",
      "chunks/relay.js",
      "chunks/service.js",
      "chunks/version.js",
    ],
  },
])("$entry of the package loads $expected and no package", ({ entry, expected }) => {
  const { files, packages } = importedBy(entry, dist);
  expect({ files: files.toSorted(), packages }).toEqual({ files: expected, packages: [] });
});
