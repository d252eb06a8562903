import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type SourceLister, openSourceReader } from "../../../../../src/sources/reader.ts";
import { parseSource } from "../../../../../src/sources/source.ts";
import { describeSourceReader } from "../../../../contract/source-reader.ts";
import { alphaAndBeta, skillIn } from "./fake-registry.ts";

const { signal } = new AbortController();
const source = parseSource("npm:node_modules");

function projectOf(files: Readonly<Record<string, string>>): string {
  const project = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-npm-")));
  onTestFinished(() => rmSync(project, { recursive: true }));
  writeIn(project, files);
  return project;
}

function writeIn(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), content, { mode: file.includes("scripts/") ? 0o755 : 0o644 });
  }
}

/** A package in a directory of packages. */
function installed(
  name: string,
  files: Readonly<Record<string, string>>,
  place = "node_modules",
): Record<string, string> {
  const all = { "package.json": JSON.stringify({ name, version: "1.2.3" }), ...files };
  return Object.fromEntries(Object.entries(all).map(([file, content]) => [`${place}/${name}/${file}`, content]));
}

function dependsOn(...names: readonly string[]): Record<string, string> {
  const [first = "", ...others] = names;
  const devDependencies = Object.fromEntries(others.map((name) => [name, "*"]));
  return { "package.json": JSON.stringify({ dependencies: { [first]: "*" }, devDependencies }) };
}

function readerOf(project: string): SourceLister {
  const reader = openSourceReader({ allowPrivate: [], project });
  onTestFinished(() => reader.close());
  return reader;
}

describeSourceReader("openSourceReader, of the packages that are installed in a project", async () => {
  const project = projectOf({ ...dependsOn("rows"), ...installed("rows", alphaAndBeta) });
  return await Promise.resolve({
    reader: openSourceReader({ allowPrivate: ["127.0.0.1:1"], project }),
    source,
    unreachable: parseSource("mcp:http://127.0.0.1:1/mcp"),
  });
});

test("lists what packages of package.json publish, as the skills package finds it, and nothing else", async () => {
  const project = projectOf({
    ...dependsOn("rows", "@acme/cols", "whole", "absent", "../../etc"),
    ...installed("rows", { ...skillIn("skills/a", "a"), ...skillIn("tools/b", "b") }),
    ...installed("@acme/cols", { ...skillIn("dist/skills/c", "c"), ...skillIn("skills/a", "a") }),
    ...installed("whole", { "SKILL.md": "---\nname: whole\ndescription: Is all.\n---\n", "node_modules/x/y.js": "", "z.md": "" }), // prettier-ignore
    ...installed("transitive", skillIn("skills/d", "d")),
  });
  const reader = readerOf(project);
  const index = await reader.read(source, undefined, signal);
  expect(index?.skills.map(({ name, version }) => `${name} ${version ?? ""}`)).toEqual(["a 1.2.3", "c 1.2.3", "whole 1.2.3"]); // prettier-ignore
  expect(index?.skills.map(({ content }) => "pin" in content && content.pin)).toEqual(["@acme/cols@1.2.3", "@acme/cols@1.2.3", "whole@1.2.3"]); // prettier-ignore
  expect(index?.problems).toEqual(["rows has a skill a, as another package does; left out: add npm:rows."]);
  const whole = index?.skills.at(-1);
  if (whole === undefined) throw new Error("There is no whole.");
  expect((await reader.skillFiles(whole, signal)).map(({ path: file }) => file).sort()).toEqual([
    "SKILL.md",
    "package.json",
    "z.md",
  ]);
});

test.skipIf(process.platform === "win32")(
  "follows the links of package managers, and none out of node_modules",
  async () => {
    const outside = projectOf(installed("secret", skillIn("skills/s", "s"), "."));
    const project = projectOf({
      ...dependsOn("linked", "secret", "tricky"),
      ...installed("linked", skillIn("skills/a", "a"), "node_modules/.pnpm/linked@1.2.3/node_modules"),
      ...installed("tricky", skillIn("skills/b", "b")),
    });
    const modules = path.join(project, "node_modules");
    symlinkSync(".pnpm/linked@1.2.3/node_modules/linked", path.join(modules, "linked"));
    symlinkSync(path.join(outside, "secret"), path.join(modules, "secret"));
    symlinkSync(path.join(outside, "secret/skills/s"), path.join(modules, "tricky/skills/s"));
    symlinkSync("/etc/passwd", path.join(modules, "tricky/skills/b/passwd"));
    const reader = readerOf(project);
    const index = await reader.read(source, undefined, signal);
    expect(index?.skills.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(index?.problems).toEqual(["secret is a link out of node_modules; left out."]);
    const b = index?.skills[1];
    if (b === undefined) throw new Error("There is no b.");
    expect((await reader.skillFiles(b, signal)).map(({ path: file }) => file).sort()).toEqual(["SKILL.md", "scripts/run.sh"]); // prettier-ignore
  },
);

test("finds packages in node_modules above the project, as Node does", async () => {
  const workspace = projectOf({
    ...installed("rows", skillIn("skills/a", "a")),
    "packages/app/package.json": JSON.stringify({ dependencies: { rows: "1" } }),
  });
  const index = await readerOf(path.join(workspace, "packages/app")).read(source, undefined, signal);
  expect(index?.skills.map(({ name }) => name)).toEqual(["a"]);
});

test("a package that changed after it was listed is not read", async () => {
  const project = projectOf({ ...dependsOn("rows"), ...installed("rows", alphaAndBeta) });
  const reader = readerOf(project);
  const [alpha] = (await reader.read(source, undefined, signal))?.skills ?? [];
  if (alpha === undefined) throw new Error("There is no alpha.");
  writeIn(project, { "node_modules/rows/package.json": JSON.stringify({ name: "rows", version: "2.0.0" }) });
  await expect(reader.skillFiles(alpha, signal)).rejects.toThrow(
    "rows is not installed any more as it was listed; look again.",
  );
});

test.each<[string, Record<string, string>, string]>([
  ["without a package.json", {}, "package.json cannot be used: there is no such file. Create it, or correct the name."],
  ["with a damaged one", { "package.json": "{" }, "package.json is not an object of JSON."],
])("a project %s is refused with a sentence", async (_what, files, why) => {
  await expect(readerOf(projectOf(files)).read(source, undefined, signal)).rejects.toThrow(why);
});
