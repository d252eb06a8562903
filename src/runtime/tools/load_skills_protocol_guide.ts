import * as z from "zod";
import { guideSkill } from "../caller/guide.ts";
import { defineTool } from "./tool.ts";

export const loadSkillsProtocolGuide = defineTool({
  name: "load_skills_protocol_guide",
  description:
    "Load the Skills Protocol Guide to learn how to use these tools. Call this first if you haven't read the guide yet.",
  input: z.strictObject({}),
  output: z.strictObject({ content: z.string() }),
  run: ({ guide }) => ({ output: { content: guide().body }, skill: guideSkill.skill }),
});
