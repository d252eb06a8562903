import type { ServiceConnection, SkillService } from "../../src/acp/skill-service.ts";

const nothing = (): void => undefined;

/** A service that does nothing except what the test defines. */
export function fakeService(methods: Partial<ServiceConnection> = {}): SkillService {
  const connection: ServiceConnection = {
    prepare: nothing,
    open: nothing,
    equip: () => undefined,
    begin: nothing,
    named: nothing,
    agentListed: () => undefined,
    listPassed: nothing,
    invoke: () => undefined,
    turnBegan: nothing,
    answersRun: () => undefined,
    callReported: nothing,
    indexSent: nothing,
    callTool: nothing,
    questionShown: nothing,
    editorReplied: nothing,
    cancelCall: nothing,
    cancelTurn: nothing,
    cancelToolCall: nothing,
    release: nothing,
    close: () => Promise.resolve(),
    ...methods,
  };
  return { connect: () => connection, serveSkills: (port) => port.close(), close: () => Promise.resolve() };
}
