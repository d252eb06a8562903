import { countCodePoints } from "../../../base/text/code-points.ts";
import type { Budget } from "../../wire/sessions.ts";
import type { MountBrowse } from "../browse-door.ts";
import { agentLimits } from "./budget/agent-limits.ts";
import { cutDescriptions } from "./budget/cut-descriptions.ts";

/** `GET /api/budget`: what the skills that models see cost in their context. */
export const mountBudget: MountBrowse = ({ skills }) => [
  {
    method: "GET",
    path: "/api/budget",
    async answer() {
      const seen = (await skills.all()).filter(
        ({ offered, row }) =>
          offered !== undefined && offered.skill.disableModelInvocation !== true && row.state !== "denied",
      );
      const listed = seen.map(({ row }) => ({
        id: row.id,
        name: row.name.length,
        description: countCodePoints(row.description),
      }));
      const total = (kind: "listed" | "instructions"): number =>
        seen.reduce((all, { row }) => all + row.tokens[kind], 0);
      const budget: Budget = {
        skills: seen.length,
        listed: total("listed"),
        instructions: total("instructions"),
        agents: agentLimits.map(({ agent, description, total: most, says, reference, omits }) => {
          const limits = {
            ...(description !== undefined && { description }),
            ...(most !== undefined && { total: most }),
            omits,
          };
          return { agent, says, reference, ...cutDescriptions(listed, limits) };
        }),
      };
      return { json: budget };
    },
  },
];
