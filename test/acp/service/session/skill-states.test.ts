import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { SkillStates } from "../../../../src/acp/service/session/skill-states.ts";
import { noCapabilities } from "../../../../src/skills/permissions.ts";
import { openTrust } from "../../../runtime/trust/open-trust.ts";
import { offer } from "../../memory-skillset.ts";

// Reading trust for the first time takes long on a busy machine.
const patience = { timeout: 20_000 };
const digest = `sha256:${"0a".repeat(32)}`;
const wanting = offer("keyed", { metadata: { "acp-skills-secrets": "API_KEY" } });
const plain = offer("plain");

function open() {
  const dataDirectory = mkdtempSync(path.join(tmpdir(), "acp-skills-states-"));
  onTestFinished(() => {
    rmSync(dataDirectory, { recursive: true });
  });
  const { trust } = openTrust();
  const app = {
    trust: vi.fn(() => Promise.resolve(trust)),
    source: { files: {} as never, bytes: {} as never },
    hasher: { hash: () => Promise.resolve({ files: [], digest }) as never },
  };
  const [changed, failed] = [vi.fn(), vi.fn()];
  const states = new SkillStates({ app, dataDirectory, owner: "s1", directory: "/project", changed, failed });
  return { states, app, trust, changed, failed };
}

test("a skill that wants something needs an approval until a person gives it", async () => {
  const { states, trust, changed, failed } = open();
  states.inspect([wanting, plain]);
  expect(states.of(wanting.skill)).toBeUndefined();
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), patience);
  expect([wanting, plain].map(({ skill }) => states.of(skill))).toEqual(["needs-approval", undefined]);

  const { skill, sources } = wanting;
  const { name, slug, version, directory } = skill;
  const judged = { name, slug, version, digest, isOwn: true, source: sources[0] ?? "", directory };
  const wants = { ...noCapabilities, secrets: ["API_KEY"] };
  const request = { about: "run", skill: judged, needs: wants, wants, files: () => Promise.resolve([]) } as const;
  const asker = { owner: "s1", directory: "/project", transport: "acp" };
  await trust.answered(request, asker, { answer: "trust" });
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(2), patience);
  expect(states.of(skill)).toBeUndefined();

  states.close();
  await trust.answered(request, asker, { answer: "block" });
  expect(changed).toHaveBeenCalledTimes(2);
  expect(failed).not.toHaveBeenCalled();
});

test("where no skill wants anything and nobody approved anything, trust is not loaded", async () => {
  const { states, app, changed } = open();
  states.inspect([plain]);
  expect(states.isReading).toBe(true);
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), patience);
  expect(states.isReading).toBe(false);
  states.close();
  expect(app.trust).not.toHaveBeenCalled();
});

test("a failure is reported, and the next inspection tries again", async () => {
  const { states, app, changed, failed } = open();
  app.trust.mockRejectedValueOnce(new Error("The disk is full."));
  states.inspect([wanting]);
  await vi.waitFor(() => expect(failed).toHaveBeenCalledTimes(1), patience);
  states.inspect([wanting]);
  await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1), patience);
  expect(states.of(wanting.skill)).toBe("needs-approval");
});
