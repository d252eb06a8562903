import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { isSkillsError } from "../../src/base/errors.ts";
import type { DirectoryEntry, SkillSource } from "../../src/skills/files.ts";
import { createSkillHasher } from "../../src/skills/hash.ts";

/** A directory: files as text, directories, and links to an entry of the skill by its path. */
type Tree = ReadonlyMap<string, string | Tree | { readonly link: string }>;

/** Numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const contents = ["", "a", "b", "a\n", "b.md"];
const sha256Of = new Map(contents.map((text) => [text, hash("sha256", text)]));
const names = [
  ..."a b a.md b.md SKILL.md scripts .hidden node_modules __pycache__ \u{e9} e\u0301 \ufffd 文".split(" "),
  ...["a  b", " a", "deadbeef  a", `${sha256Of.get("a") ?? ""}  a`],
];
const odd = ["a\nb", "a\u2028b", "a\u0085b", "a\uff0fb", "a\u2100b", "a\\b", "a\r", "\udcff", "\udcfe", "\udcc3\udca9"];
/** Names that end one line of the digest and begin the next. */
const joined = contents.flatMap((text) =>
  ["a", "b", "a.md"].flatMap((first) => ["b", "b.md"].map((next) => `${first}\n${sha256Of.get(text) ?? ""}  ${next}`)),
);

function generate(next: (below: number) => number, depth = 0): Tree {
  const tree = new Map<string, string | Tree | { readonly link: string }>();
  for (let left = next(4); left >= 0; left--) {
    const some = [joined, odd][next(40)] ?? names;
    const name = some[next(some.length)] ?? "";
    const kind = next(8);
    if (kind === 0) tree.set(name, { link: names[next(4)] ?? "" });
    else if (kind < 3 && depth < 2) tree.set(name, next(6) === 0 ? new Map() : generate(next, depth + 1));
    else tree.set(name, contents[next(contents.length)] ?? "");
  }
  return tree;
}

/** What the model, a run and a reader get of a tree: paths and bytes, with links resolved, without hidden names. */
function meaningOf(tree: Tree, root = tree, prefix = "", depth = 0): [string, string][] {
  return [...tree].flatMap(([name, entry]): [string, string][] => {
    if (name.startsWith(".") || name === "__pycache__") return [];
    const target = typeof entry === "object" && "link" in entry ? root.get(entry.link) : entry;
    if (typeof target === "string") return [[prefix + name, target]];
    if (!(target instanceof Map) || depth > 3) return [];
    // A link to a directory around it is not followed.
    return target !== entry && prefix.startsWith(`${(entry as { link: string }).link}/`)
      ? []
      : meaningOf(target as Tree, root, `${prefix}${name}/`, depth + 1);
  });
}

const root = "/skill";

function sourceOf(tree: Tree): SkillSource {
  const find = (place: string): { readonly real: string; readonly entry: string | Tree } | undefined => {
    let real = root;
    let entry: string | Tree = tree;
    for (const name of place
      .slice(root.length + 1)
      .split("/")
      .filter(Boolean)) {
      const below: unknown = entry instanceof Map ? entry.get(name) : undefined;
      if (typeof below === "string" || below instanceof Map) {
        real += `/${name}`;
        entry = below as string | Tree;
        continue;
      }
      const target = (below as { link: string } | undefined)?.link;
      const direct = target === undefined ? undefined : tree.get(target);
      if (typeof direct !== "string" && !(direct instanceof Map)) return undefined;
      real = `${root}/${target ?? ""}`;
      entry = direct as string | Tree;
    }
    return { real, entry };
  };
  const textAt = (file: string): string | undefined => {
    const entry = find(file)?.entry;
    return typeof entry === "string" ? entry : undefined;
  };
  return {
    files: {
      list(directory) {
        const { entry } = find(directory) ?? {};
        if (!(entry instanceof Map)) return [];
        return Array.from(entry as Tree, ([name, inner]): DirectoryEntry => {
          const found = find(`${directory}/${name}`)?.entry;
          const kind = found === undefined ? "dangling" : typeof found === "string" ? "file" : "directory";
          return { name, kind, link: typeof inner === "object" && "link" in inner };
        });
      },
      head: (file) => ({ bytes: Buffer.from(textAt(file) ?? ""), whole: true }),
      resolve: (target) => find(target)?.real,
    },
    bytes: {
      stamp: (file) => ({ size: textAt(file)?.length ?? 0, version: undefined }),
      head: (file) => ({ bytes: Buffer.from(textAt(file) ?? ""), size: textAt(file)?.length ?? 0, version: undefined }),
      sha256: (file) => sha256Of.get(textAt(file) ?? ""),
    },
  };
}

const { signal } = new AbortController();

test(
  "no two of 100,000 generated trees that mean different files have the same digest",
  { timeout: 120_000 },
  async () => {
    const next = numbers(1);
    const hasher = createSkillHasher();
    const seen = new Map<string, string>();
    let refused = 0;
    for (let left = 100_000; left > 0; left--) {
      const tree = generate(next);
      let digest: string | undefined;
      try {
        ({ digest } = await hasher.hash(sourceOf(tree), root, signal));
      } catch (error) {
        if (!isSkillsError(error) || error.facts["reason"] !== "file-name-invalid") throw error;
        refused++;
        continue;
      }
      const meaning = JSON.stringify(meaningOf(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
      if (digest === undefined) throw new Error(`no digest: ${meaning}`);
      const same = seen.get(digest);
      if (same === undefined) seen.set(digest, meaning);
      else if (same !== meaning) expect(meaning).toBe(same);
    }
    expect(seen.size).toBeGreaterThan(20_000);
    expect(refused).toBeGreaterThan(10_000);
  },
);

test("keeps the digest of a skill with ordinary names: that of the output of sha256sum", async () => {
  const tree: Tree = new Map<string, string | Tree>([
    ["SKILL.md", "a"],
    ["node_modules", new Map([["x", new Map([["index.js", "b"]])]])],
    ["r\u00e9sum\u00e9 \ufffd 文.md", ""],
    [".env", "b"],
  ]);
  const lines = [
    ["a", "SKILL.md"],
    ["b", "node_modules/x/index.js"],
    ["", "r\u00e9sum\u00e9 \ufffd 文.md"],
  ] as const;
  const text = lines.map(([content, file]) => `${sha256Of.get(content) ?? ""}  ${file}\n`).join("");
  expect((await createSkillHasher().hash(sourceOf(tree), root, signal)).digest).toBe(`sha256:${hash("sha256", text)}`);
});

test.each([
  ["a\nb", "contains a control character or a line separator"],
  ["a\u2029b", "contains a control character or a line separator"],
  ["a\\b", "contains a backslash"],
  ["\udcffa", "is not UTF-8"],
  ["a\uff0fb", "contains a character that some systems turn into a path separator"],
])("a skill with the name %j has no digest", async (name, why) => {
  for (const tree of [new Map([[name, "a"]]), new Map([["scripts", new Map([[name, new Map<string, string>()]])]])]) {
    const hashing = createSkillHasher().hash(sourceOf(tree), root, signal);
    await expect(hashing).rejects.toThrow(why);
  }
});
