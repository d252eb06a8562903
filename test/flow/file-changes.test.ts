import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTracedConversation } from "./traced-conversation.ts";

const isCommands = (line: string): boolean => line.includes('"available_commands_update"');

test("walk 2: sends the editor one update for each file change", async () => {
  const { project, ask, until, trace, close } = openTracedConversation();
  const skills = join(project, ".agents", "skills");
  await ask("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { "acp-skills": { commands: true } } } });
  let told = until(isCommands);
  await ask("session/new", { cwd: project, mcpServers: [] });
  await told;

  told = until(isCommands);
  mkdirSync(join(project, "draft"));
  writeFileSync(join(project, "draft", "SKILL.md"), "---\nname: greet\ndescription: Says hello.\n---\nHello!\n");
  renameSync(join(project, "draft"), join(skills, "greet"));
  await told;

  told = until(isCommands);
  writeFileSync(join(skills, "greet", "SKILL.md"), "---\nname: greet\ndescription: Says goodbye.\n---\nBye!\n");
  await told;

  told = until(isCommands);
  rmSync(join(skills, "commit-message"), { recursive: true });
  await told;

  await close();
  expect(trace).toMatchInlineSnapshot(`
    [
      "> {"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"_meta":{"acp-skills":{"commands":true}}}}}",
      "< {"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"embeddedContext":false},"_meta":{"acp-skills":{"version":"0.0.0","tools":["list_skills","describe_skill","read_skill_file","execute_skill","run_code","create_blob","read_blob","load_skills_protocol_guide"],"update":["available_skills_update","available_commands_update"]}}}}}",
      "> {"id":2,"method":"session/new","params":{"cwd":"/project","mcpServers":[]}}",
      "< {"id":2,"result":{"sessionId":"session-1"}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_skills_update","availableSkills":"commit-message"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"commit-message","_meta":{"acp-skills":{"version":"1.0.0","source":"/project/.agents/skills","license":"Apache-2.0","allowedTools":["Bash(git diff *)","Bash(git log *)"],"metadata":{"author":"acp-skills","version":"1.0.0"}}}}]},"_meta":{"acp-skills":{"skills":1}}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_skills_update","availableSkills":"commit-message greet"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"commit-message","_meta":{"acp-skills":{"version":"1.0.0","source":"/project/.agents/skills","license":"Apache-2.0","allowedTools":["Bash(git diff *)","Bash(git log *)"],"metadata":{"author":"acp-skills","version":"1.0.0"}}}},{"name":"greet","_meta":{"acp-skills":{"source":"/project/.agents/skills"}}}]},"_meta":{"acp-skills":{"skills":2}}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_skills_update","availableSkills":"commit-message greet"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"commit-message","_meta":{"acp-skills":{"version":"1.0.0","source":"/project/.agents/skills","license":"Apache-2.0","allowedTools":["Bash(git diff *)","Bash(git log *)"],"metadata":{"author":"acp-skills","version":"1.0.0"}}}},{"name":"greet","_meta":{"acp-skills":{"source":"/project/.agents/skills"}}}]},"_meta":{"acp-skills":{"skills":2}}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_skills_update","availableSkills":"greet"}}}",
      "< {"method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"greet","_meta":{"acp-skills":{"source":"/project/.agents/skills"}}}]},"_meta":{"acp-skills":{"skills":1}}}}",
    ]
  `);
});
