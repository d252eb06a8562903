import { onTestFinished } from "vitest";
import { type MockModel, openMockModel } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { makePlayground, type Playground, type WrittenSkill, writeSkill } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";
import { startWrapped, type WrappedProcess } from "./wrapped-process.ts";

interface Prepared {
  readonly playground: Playground;
  readonly model: MockModel;
}

/** A project with a mock model and one skill in a folder that the agent does not read; removed when the test ends. */
async function prepare(skill: WrittenSkill): Promise<Prepared> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  await writeSkill(playground.explicitSkills, skill);
  const model = await openMockModel();
  onTestFinished(model.close);
  return { playground, model };
}

/** The same, with the agent running behind the wrapper. */
export async function prepareWrapped(
  agent: RealAgent,
  skill: WrittenSkill,
): Promise<Prepared & { readonly wrapped: WrappedProcess }> {
  const { playground, model } = await prepare(skill);
  const wrapped = await startWrapped(agent, playground, { modelUrl: model.url });
  onTestFinished(async () => {
    await wrapped.close();
  });
  return { playground, model, wrapped };
}

/** The same, with an ACP v1 editor connected to it. */
export async function prepareEditor(
  agent: RealAgent,
  skill: WrittenSkill,
  options: readonly string[] = [],
): Promise<Prepared & { readonly editor: Editor }> {
  const { playground, model } = await prepare(skill);
  const editor = await openEditor(agent, playground, { modelUrl: model.url, options });
  onTestFinished(async () => {
    await editor.close();
  });
  return { playground, model, editor };
}
