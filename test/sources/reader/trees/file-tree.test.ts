import * as fc from "fast-check";
import { expect, test } from "vitest";
import { archiveTree, readLinks, resolveSymlink } from "../../../../src/sources/reader/trees/file-tree.ts";

test("no chain of links leads to a file outside of the skill", async () => {
  const part = fc.constantFrom("..", ".", "a", "b", "secret", "real", "/", "", "\\", "skill");
  const target = fc.array(part, { maxLength: 6 }).map((parts) => parts.join("/"));
  const bytes = Buffer.from("x");
  await fc.assert(
    fc.asyncProperty(fc.array(target, { minLength: 1, maxLength: 5 }), async (targets) => {
      const names = targets.map((_, index) => `skill/${["a", "b", "c", "d", "e"][index] ?? ""}`);
      const tree = archiveTree({
        files: ["skill/real", "secret", "skillful/real", "a/real"].map((path) => ({ path, bytes, executable: false })),
        links: targets.map((text, index) => ({ path: names[index] ?? "", target: text })),
        unusable: [],
      });
      const read = await readLinks(tree, names, new AbortController().signal);
      for (const name of names) expect([undefined, "skill/real"]).toContain(resolveSymlink(tree, "skill", name, read));
    }),
  );
});
