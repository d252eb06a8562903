import { chmodSync, chownSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeTree } from "../../../src/sandbox/directory/remove-tree.ts";
import { chooseUser } from "../../../src/sandbox/directory/sandbox-user.ts";

describe.skipIf(process.getuid?.() !== 0)("the user of a run, for root", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "sandbox-user-"));
  });
  afterEach(() => removeTree(directory));

  const own = (uid: number, mode: number): void => {
    chownSync(directory, uid, uid);
    chmodSync(directory, mode);
  };
  const user = (writable: boolean) => chooseUser({ directory, writable });
  const nobody = { id: expect.toSatisfy((id: number) => id > 1234) as number, isLent: false };

  test("is a new user each time if everyone may read the project", () => {
    expect(chooseUser(undefined)).toEqual(nobody);
    expect(chooseUser(undefined)).not.toEqual(chooseUser(undefined));
    own(0, 0o755);
    expect(user(false)).toEqual(nobody);
  });

  test("is the owner of a project that is writable or private", () => {
    own(1234, 0o755);
    expect([user(false), user(true)]).toEqual([nobody, { id: 1234, isLent: false }]);
    own(1234, 0o700);
    expect(user(false)).toEqual({ id: 1234, isLent: false });
  });

  test("is a new user with an ID-mapped mount if the owner is root", () => {
    own(0, 0o755);
    expect(user(true)).toEqual({ ...nobody, isLent: true });
    own(0, 0o700);
    expect(user(false)).toEqual({ ...nobody, isLent: true });
  });

  test("is refused if the directory does not exist", () => {
    const gone = join(directory, "gone");
    for (const writable of [false, true])
      expect(chooseUser({ directory: gone, writable })).toEqual({
        refusal: `The project directory ${gone} does not exist.`,
      });
  });
});
