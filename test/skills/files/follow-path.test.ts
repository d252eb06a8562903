import { realpathSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { followLast, followPath } from "../../../src/skills/files/follow-path.ts";
import { openNativeWatcher } from "../../../src/skills/skillset/native-watcher.ts";
import { diskTree } from "../../contract/disk-tree.ts";

test("returns the symlinks and the target of a path, or the first missing name", async () => {
  const tree = diskTree(openNativeWatcher);
  const at = (target: string): string => path.join(tree.root, target);
  tree.write("store/one/file", "x");
  tree.link("store/current", "../store//./one");
  tree.link("link", at("store/current"));
  const way = followPath(at("link/file"));
  expect(way.real).toBe(at("store/one/file"));
  expect(way.isDirectory).toBe(false);
  expect(way.steps).toEqual([
    { directory: tree.root, name: "link" },
    { directory: at("store"), name: "current" },
    { directory: at("store/one"), name: "file" },
  ]);
  expect(followLast(at("store/one"))).toEqual(followPath(at("store/one")));
  tree.rename("store/one", "store/two");
  expect(followPath(at("link/file"))).toMatchObject({
    real: undefined,
    identity: undefined,
    steps: [
      { directory: tree.root, name: "link" },
      { directory: at("store"), name: "current" },
      { directory: at("store"), name: "one" },
    ],
  });
  await tree.close();
});

test("does not resolve a path that continues after a file", async () => {
  const tree = diskTree(openNativeWatcher);
  tree.write("file", "x");
  for (const [name, to] of [
    ["dot", "file/."],
    ["slash", "file/"],
    ["up", "file/../file"],
  ] as const) {
    tree.link(name, to);
    const way = followPath(path.join(tree.root, name));
    expect(way.real).toBeUndefined();
    expect(way.steps.at(-1)).toEqual({ directory: tree.root, name: "file" });
  }
  await tree.close();
});

test("resolves to the same path as realpath, or to undefined where realpath fails", async () => {
  const tree = diskTree(openNativeWatcher);
  const name = fc.constantFrom("a", "b", "c");
  const place = fc.array(name, { minLength: 1, maxLength: 3 });
  const text = fc.array(fc.constantFrom("a", "b", "c", "..", "."), { minLength: 1, maxLength: 4 });
  const link = fc.record({ at: place, to: text, isAbsolute: fc.boolean() });
  // Deeper than the links can climb: what is written through them stays in the directory of the test.
  const top = "top";
  const deep = path.join(top, ...Array<string>(20).fill("below"));
  fc.assert(
    fc.property(fc.array(place, { maxLength: 4 }), fc.array(link, { maxLength: 4 }), place, (files, links, asked) => {
      tree.remove(top);
      tree.makeDirectory(deep);
      const attempt = (make: () => void): void => {
        try {
          make();
        } catch {
          // A file or a loop is in the way: the tree has fewer entries.
        }
      };
      for (const { at, to, isAbsolute } of links) {
        const target = isAbsolute ? path.join(tree.root, deep, ...to.filter((word) => word !== "..")) : to.join("/");
        attempt(() => {
          tree.makeDirectory(path.join(deep, ...at.slice(0, -1)));
          tree.link(path.join(deep, ...at), target);
        });
      }
      for (const file of files) attempt(() => tree.write(path.join(deep, ...file), "x"));
      const target = path.join(tree.root, deep, ...asked);
      let real: string | undefined;
      attempt(() => (real = realpathSync.native(target)));
      expect(followPath(target).real).toBe(real);
    }),
  );
  await tree.close();
});
