import fc from "fast-check";
import { expect, test } from "vitest";
import { noCapabilities } from "../../../src/trust/grants/capabilities.ts";
import { askAboutProject, askAboutSkill } from "../../../src/trust/asking/question.ts";
import type { Asked } from "../../../src/trust/asking/question.ts";

const subject = {
  name: "deploy",
  slug: "deploy",
  version: "1.2.0",
  digest: `sha256:${"a".repeat(64)}`,
  isOwn: true,
  source: "/home/ada/.agents/skills",
  directory: "/skills/a",
};

function titleOf(changes: Partial<Asked>): string {
  return askAboutSkill({ about: "run", subject, wants: noCapabilities, reach: "everywhere", ...changes }).title;
}

test("the title names skill, version, short digest and everything that the skill wants, the most dangerous first", () => {
  const wants = {
    network: ["https://api.example", "http://127.0.0.1:8080"],
    secrets: ["API_KEY"],
    project: "write",
    isolation: "none",
    tools: ["Bash(git:*)"],
  } as const;
  expect(titleOf({ wants })).toBe(
    'Run deploy 1.2.0 (aaaaaaaaaaaa): may run without a sandbox, with all your rights, may change the project\'s files, may read the secret API_KEY, may connect to api.example and http://127.0.0.1:8080, may let the agent run harmless "git" commands without asking (the rest is asked)',
  );
});

test("the title of a skill whose name looks like another one's says so", () => {
  expect(titleOf({ subject: { ...subject, name: "dep1oy" }, lookAlike: "deploy" })).toBe(
    "Run dep1oy 1.2.0 (aaaaaaaaaaaa): may run in its sandbox; not the same as deploy, which has a similar name",
  );
});

test("a long list hides no other kind of capability, and the question has all of it", () => {
  const secrets = Array.from({ length: 500 }, (_, index) => `KEY_${index}_${"X".repeat(100)}`);
  const wants = {
    ...noCapabilities,
    secrets,
    network: [`https://${"a.".repeat(100)}evil.example`],
    tools: ["Edit(src/**)"],
  };
  const question = askAboutSkill({ about: "run", subject, wants, reach: "everywhere" });
  expect(question.title).toContain("and 494 more");
  expect(question.title).toContain("evil.example");
  expect(question.title).toMatch(/may let the agent edit "src\/\*\*" without asking \(the rest is asked\)$/);
  expect(question.wants.join()).toContain("KEY_499_");
});

test.each(["run", "tool"] as const)(
  "a question about a %s has at most one option of each kind, allow_once first",
  (about) => {
    for (const reach of ["once", "session", "project", "everywhere"] as const) {
      const kinds = askAboutSkill({ about, subject, wants: noCapabilities, reach }).options.map(({ kind }) => kind);
      expect(kinds).toEqual([
        "allow_once",
        ...(reach === "once" ? [] : ["allow_always"]),
        "reject_once",
        "reject_always",
      ]);
    }
  },
);

const nasty = fc.string({
  unit: fc.constantFrom(
    "\u202e",
    "\u2066",
    "\u200b",
    "\u3164",
    "\u115f",
    "\uffa0",
    "\u2800",
    "\n",
    "\u001b",
    "\ufeff",
    "a",
    "(",
    ")",
    "…",
  ),
});

test("no text of a skill or a project gets control, invisible or bidirectional characters into a title", () => {
  fc.assert(
    fc.property(nasty, nasty, (tool, place) => {
      const wants = { ...noCapabilities, tools: [tool] };
      for (const title of [titleOf({ wants, use: tool, about: "tool" }), askAboutProject(place, subject, "once").title])
        expect(title).toMatch(/^[^\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]*$/u);
    }),
  );
});
