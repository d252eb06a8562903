import fc from "fast-check";
import { expect, test } from "vitest";
import { isArtifactPath, readArtifactName, toArtifactName } from "../../../src/serve/publish/artifacts.ts";

const digestStart = "0123456789abcdef0123456789abcdef";
const slug = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}$/);
const start = fc.stringMatching(/^[0-9a-f]{32}$/);
const type = fc.constantFrom("archive" as const, "skill-md" as const);

test("reads every name that it writes", () => {
  fc.assert(
    fc.property(slug, start, type, (one, two, three) => {
      const name = { slug: one, digestStart: two, type: three };
      expect(readArtifactName(toArtifactName(name))).toEqual(name);
    }),
  );
});

test("takes the path of an artifact for one, at the root and below a share", () => {
  fc.assert(
    fc.property(slug, start, type, fc.constantFrom("", "/s/T0ken_x-1"), (one, two, three, prefix) => {
      const text = toArtifactName({ slug: one, digestStart: two, type: three });
      expect(isArtifactPath(`${prefix}/.well-known/agent-skills/${text}`)).toBe(true);
    }),
  );
});

test.each([
  "/.well-known/agent-skills/index.json",
  "/s/T0ken_x-1/.well-known/agent-skills/index.json",
  `/.well-known/agent-skills/alpha-${digestStart}`,
  `/.well-known/agent-skills/alpha-${digestStart}.tar.gz/SKILL.md`,
  `/.well-known/agent-skills/alpha-${digestStart}/skill.md`,
  `/.well-known/agent-skills/alpha-${digestStart.slice(1)}.tar.gz`,
  `/.well-known/agent-skills/ALPHA-${digestStart}.tar.gz`,
  `/a/.well-known/agent-skills/alpha-${digestStart}.tar.gz`,
  `/s/a/b/.well-known/agent-skills/alpha-${digestStart}.tar.gz`,
  `/rpc`,
])("%s is no path of an artifact", (path) => {
  expect(isArtifactPath(path)).toBe(false);
});
