import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { copyPath, formatState, newState, readState, sourcePaths } from "../../../src/sources/store/store-paths.ts";
import { fakeSource, listed, newDataDirectory, openStore, source } from "./open-store.ts";
import { sourceRoot } from "../../../src/sources/install-scope.ts";

const commits = ["0a".repeat(20), "0b".repeat(20)] as const;
const at = (commit: string) =>
  listed("alpha", "1", { content: { type: "git", repository: source.url, commit, directory: "alpha" } });

test("a copy is of the commit that was read last, also if its bytes are the same in both", async () => {
  const dataDirectory = newDataDirectory();
  const { look, state, paths } = openStore(dataDirectory);
  const { remote, path } = sourceRoot(dataDirectory, source);
  expect(path).toBe(sourcePaths(paths, source).skills);
  expect(remote.label).toBe(source.label);
  const fake = fakeSource();
  for (const commit of commits) {
    fake.skills = [at(commit)];
    await look(fake);
    const [alpha] = state().skills;
    expect(remote.provenanceOf(copyPath(paths, alpha!))).toEqual({ digest: alpha!.digest, commit });
  }
});

test("an older version, or any other directory, is of no commit", async () => {
  const dataDirectory = newDataDirectory();
  const { look, state, paths } = openStore(dataDirectory);
  const { remote } = sourceRoot(dataDirectory, source);
  expect(remote.provenanceOf("/elsewhere")).toBeUndefined();
  const fake = fakeSource();
  fake.skills = [at(commits[0])];
  await look(fake);
  const old = copyPath(paths, state().skills[0]!);
  fake.files.set("alpha 1", []);
  fake.skills = [listed("alpha", "2")];
  await look(fake);
  expect(remote.provenanceOf(old)).toBeUndefined();
  expect(remote.provenanceOf(copyPath(paths, state().skills[0]!))).toEqual({ digest: state().skills[0]!.digest });
});

test.each([
  ["no JSON", "{"],
  ["null", "null"],
  ["of another format", formatState(newState(source, 0)).replace('"format":1', '"format":2')],
  ["without skills", formatState(newState(source, 0)).replace('"skills":[]', '"skills":{}')],
  [
    "with a name that leads elsewhere",
    formatState({
      ...newState(source, 0),
      skills: [{ name: "a", slug: "../../escaped", digest: `sha256:${"a".repeat(64)}`, bytes: 1 }],
    }),
  ],
  [
    "with a digest that leads elsewhere",
    formatState({ ...newState(source, 0), skills: [{ name: "a", slug: "a", digest: "sha256:../..", bytes: 1 }] }),
  ],
])("a state that is %s counts as none, and is replaced by the next look", async (_what, text) => {
  const { look, paths, bodies } = openStore();
  const { state } = sourcePaths(paths, source);
  writeFileSync(state, text);
  expect(readState(state)).toBeUndefined();
  await look(fakeSource("alpha"));
  expect(bodies()).toEqual({ alpha: "version 1" });
  expect(readState(state)?.skills).toHaveLength(1);
});
