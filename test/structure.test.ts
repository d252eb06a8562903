import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { toolNames } from "../src/wire/tools.ts";

// Whoever raises a limit here adds a line that says why.

const source = fileURLToPath(new URL("../src", import.meta.url));
const folders = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());

test("no folder of src shows more than 12 entries", () => {
  const crowded = folders
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .filter((folder) => !folder.endsWith("__pycache__"))
    .map((folder) => ({ folder: path.relative(source, folder), entries: entriesOf(folder).length }))
    .filter(({ entries }) => entries > 12);
  expect(crowded).toEqual([]);
});

test("src/README.md maps every folder of src", () => {
  const [, map = ""] = /```\n(src\/\n[^]*?)```/.exec(readFileSync(path.join(source, "README.md"), "utf8")) ?? [];
  for (const folder of readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    expect(map).toContain(` ${folder.name}/`);
});

const declared = /^export (?:abstract |async |declare )*(?:function\*?|class|interface|type|const|enum) ([\w$]+)/gm;

test("an exported name means one thing", () => {
  const places = new Map<string, Set<string>>();
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name)))
    for (const [, name = ""] of readFileSync(path.join(source, file), "utf8").matchAll(declared))
      places.set(name, (places.get(name) ?? new Set()).add(file));
  // Every module of a command exports it under this name.
  places.delete("command");
  expect([...places].filter(([, files]) => files.size > 1)).toEqual([]);
});

test("the gate and the configuration of tests name only tests that exist", () => {
  const root = path.join(source, "..");
  for (const file of [".ci/run", ".config/vitest.config.ts", ".config/vitest.agents.config.ts", ".config/knip.json"]) {
    const named = readFileSync(path.join(root, file), "utf8").match(/\btest\/[\w./-]+/g) ?? [];
    expect(
      named.filter((place) => !existsSync(path.join(root, place.replace(/[/.]+$/, "")))),
      file,
    ).toEqual([]);
  }
});

/** The files of src, relative to it. */
function sources(): readonly string[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => name.replaceAll("\\", "/"));
}

test("names of files and folders are kebab-case and say what is in them; the file of a meta-tool has its name", () => {
  const bad = sources()
    .map((file) => file.replace(/(?:\.d)?\.tsx?$/, ""))
    .filter((file) => !toolNames.some((tool) => file === `runtime/tools/${tool}`))
    .filter((file) => {
      const names = file.split("/");
      const saysNothing = /^(?:utils?|helpers?|common|shared|misc|manager|lib)$/;
      return names.some((name) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || saysNothing.test(name));
    });
  expect(bad).toEqual([]);
});

/** What a file of src imports of ours, types included. */
function importsIn(file: string): readonly string[] {
  const text = readFileSync(path.join(source, file), "utf8");
  const written = /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)/g;
  return Array.from(text.matchAll(written), ([, given, lazy]) =>
    path.join(path.dirname(file), given ?? lazy ?? "").replaceAll("\\", "/"),
  );
}

/** The folders of one folder that import each other in a ring, files in them included, entries beside them not. */
test("folders import each other in no circle", () => {
  const edges = new Map<string, Set<string>>();
  for (const file of sources())
    for (const target of importsIn(file)) {
      const [from, to] = [file.split("/"), target.split("/")];
      const shared = from.findIndex((name, depth) => name !== to[depth]);
      // Of both, a folder below the one that they share.
      if (shared < 0 || from.length - shared < 2 || to.length - shared < 2) continue;
      const [one, other] = [from, to].map((names) => names.slice(0, shared + 1).join("/"));
      edges.set(one ?? "", (edges.get(one ?? "") ?? new Set()).add(other ?? ""));
    }
  const reaches = (start: string, end: string, seen = new Set<string>()): boolean =>
    [...(edges.get(start) ?? [])].some((next) => {
      if (next === end) return true;
      if (seen.has(next)) return false;
      return reaches(next, end, seen.add(next));
    });
  const circular = [...edges.keys()].filter((folder) => reaches(folder, folder)).sort();
  expect(circular).toEqual([]);
});

test("no helper of tests has hooks for the file that loads it first: files share what is loaded", () => {
  const tests = fileURLToPath(new URL(".", import.meta.url));
  const helpers = readdirSync(tests, { recursive: true, encoding: "utf8" }).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith(`browser${path.sep}`),
  );
  const hooked = helpers.filter((file) =>
    /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(path.join(tests, file), "utf8")),
  );
  // Vitest loads this one for each file.
  expect(hooked.filter((file) => file !== "imports-settled.ts")).toEqual([]);
});

/** The entry of a folder, `trust.ts` beside `trust/`, and the folder are one. */
function entriesOf(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name !== "README.md" && name !== "__pycache__");
  return [...new Set(names.map((name) => name.replace(/\.tsx?$/, "")))];
}

test("a doc comment can be read by itself: none begins with a pronoun, a comparison or a clause", () => {
  const words = [
    ...["Of", "Like", "The same", "As", "What", "Who", "Whose", "Whoever", "Which", "Where", "When", "While"],
    ...["It", "Its", "They", "Their", "Those", "These", "This", "That", "Such", "Others?", "Both", "Neither", "None"],
    ...["All that", "All of", "Everything that", "One (?:of|that|which|who|for|with|in)", "Each of"],
    "How (?!many|much|long|often|far|deep)",
  ];
  const begun = new RegExp(String.raw`/\*\*\s+(?:\*\s+)?(?:${words.join("|")})\b.*`, "g");
  const bad = sources().flatMap((file) =>
    (readFileSync(path.join(source, file), "utf8").match(begun) ?? []).map((comment) => `${file}: ${comment}`),
  );
  expect(bad).toEqual([]);
});

test("a shape that is picked from a type three times has a name", () => {
  const shapes = new Map<string, string[]>();
  const picked = /\b(Pick|Omit)<\s*([\w.[\]"]+),\s*((?:\|?\s*"\w+"\s*)+),?\s*>/g;
  for (const file of sources())
    for (const [, how = "", type = "", keys = ""] of readFileSync(path.join(source, file), "utf8").matchAll(picked)) {
      const shape = `${how} of ${type}: ${(keys.match(/\w+/g) ?? []).toSorted().join(", ")}`;
      shapes.set(shape, [...(shapes.get(shape) ?? []), file]);
    }
  expect([...shapes].filter(([, files]) => files.length > 2)).toEqual([]);
});

test("exported names use the words of the glossary, not those that it replaced", () => {
  const replaced = new Set(
    "asker door doors kept look looks meet member part parts person persons place placed places rival room rooms settle settled subject told wish".split(
      " ",
    ),
  );
  // The word of in-toto, and of a cluster's database.
  const ofOthers = /^(?:SignedSubject|MemberKind|MemberOptions|Member|connectMember|mailboxChannel)$/;
  const bad = sources().flatMap((file) =>
    Array.from(readFileSync(path.join(source, file), "utf8").matchAll(declared), ([, name = ""]) => name)
      .filter(
        (name) => !ofOthers.test(name) && name.split(/(?=[A-Z])/).some((word) => replaced.has(word.toLowerCase())),
      )
      .map((name) => `${file}: ${name}`),
  );
  expect(bad).toEqual([]);
});

test("src/README.md opens with a glossary of 25 words", () => {
  const [, glossary = ""] =
    /^# .*\n\n## Glossary\n([^]*?)\n## /.exec(readFileSync(path.join(source, "README.md"), "utf8")) ?? [];
  expect(glossary.match(/^- \*\*/gm)).toHaveLength(25);
});
