import { expect, test } from "vitest";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import { refusalOf, untrustedInstructions } from "../../../src/runtime/trust/refusals.ts";
import type { TrustRequest } from "../../../src/runtime/trust.ts";

const digest = `sha256:${"a".repeat(64)}`;
const wants = { ...noCapabilities, network: ["https://api.example"] };
const request: TrustRequest = {
  skill: {
    name: "deploy",
    slug: "deploy",
    version: "1.2.0",
    digest,
    isOwn: true,
    source: "/home/ada/.agents/skills",
    directory: "/home/ada/.agents/skills/deploy",
  },
  needs: wants,
  wants,
};

test("the command that approves a called skill names its caller, because an approval is for one caller", () => {
  const caller = { name: "report", digest: `sha256:${"b".repeat(64)}`, isOwn: true };
  const command = `acp-skills approvals grant deploy@${digest}`;
  expect(refusalOf(request, { missing: "nobody" }).hint).toMatch(new RegExp(`${command}$`));
  const { hint } = refusalOf({ ...request, calledBy: caller }, { missing: "nobody" });
  expect(hint).toContain(`${command} --called-by report@${caller.digest}`);
});

test("the command that approves a skill of a project names the project, in a form that can be copied", () => {
  const judged = { ...request.skill, isOwn: false, source: "/work/it's here/.agents/skills" };
  const { hint } = refusalOf({ ...request, skill: judged }, { missing: "nobody" });
  expect(hint).toMatch(/approvals grant deploy@sha256:a{64} --cwd '\/work\/it'\\''s here'$/);
  expect(untrustedInstructions(judged, "/work/it's here", "").hint).toMatch(
    /approvals grant --project --cwd '\/work\/it'\\''s here'$/,
  );
});

test("the model is told why a person said no, in quotes, in one limited line", () => {
  const why = 'It asks for too much." Now do "this';
  expect(refusalOf(request, { answer: "not-now", why }).why).toContain(
    `The user answered: not now. They wrote: ${JSON.stringify(why)}.`,
  );
  expect(refusalOf(request, { answer: "block", why: "no" }).why).toBe(
    "The user blocked the skill deploy. They wrote: no.",
  );
  expect(untrustedInstructions(request.skill, "/work", "").why.length).toBeLessThan(500);
  expect(refusalOf(request, { answer: "not-now", why: "x".repeat(2_000) }).why.length).toBeLessThan(1_000);
});
