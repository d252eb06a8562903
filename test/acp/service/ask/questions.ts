import { type Question, askAboutProject, askAboutSkill } from "../../../../src/runtime/question.ts";
import { noCapabilities } from "../../../../src/skills/permissions.ts";
import { fakeTools } from "../../fake-tools.ts";
import { type Conversation, converseInSession, type Message } from "../../conversation.ts";

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const network = ["https://api.example.com"];

/** A question about the first version of a skill. */
export const question: Question = askAboutSkill({
  skill: {
    name: "web.fetch",
    slug: "web-fetch",
    version: "1.0.0",
    digest: digest("a"),
    isOwn: true,
    source: "/own",
    directory: "/own/web.fetch",
  },
  wants: { ...noCapabilities, network, secrets: ["API_KEY"] },
  reach: "everywhere",
});

/** A question about the next version of the same skill. */
export const changedQuestion: Question = askAboutSkill({
  skill: {
    name: "web.fetch",
    slug: "web-fetch",
    version: "1.1.0",
    digest: digest("b"),
    isOwn: true,
    source: "/own",
    directory: "/own/web.fetch",
  },
  wants: { ...noCapabilities, network, secrets: ["API_KEY"] },
  before: { version: "1.0.0", digest: digest("a"), capabilities: { ...noCapabilities, network } },
  changed: [
    { path: "SKILL.md", before: "one\ntwo\n", after: "one\n2\n" },
    { path: "scripts/new.py", after: "print(1)\n" },
    { path: "logo.png" },
  ],
  reach: "everywhere",
});

export const projectQuestion: Question = askAboutProject("/project", { name: "pdf" }, "project");

interface AskedParams {
  readonly sessionId: string;
  readonly title?: string;
  readonly toolCall?: Record<string, unknown>;
  readonly subject?: { readonly type: string; readonly toolCall: Record<string, unknown> };
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
}

export interface AskingConversation extends Conversation {
  /** Calls a tool that asks; the call's response is the reply. */
  readonly call: (id: number, sessionId?: string) => Promise<void>;
  /** The permission requests that reached the editor, oldest first. */
  readonly asked: () => (Message & { readonly id: string; readonly params: AskedParams })[];
  /** The response to a call. */
  readonly reply: (id: number) => Promise<unknown>;
  readonly selects: (id: string, optionId: unknown, afterMs?: number) => Promise<void>;
}

/** Waits until all pending work that needs no timer is done. */
export const settled = (): Promise<void> => new Promise(setImmediate);

/** A conversation in session `s` whose tool asks the person at the editor. */
export async function askingConversation(
  about: Question = question,
  clientCapabilities: object = {},
): Promise<AskingConversation> {
  const tools = fakeTools(async ({ caller, signal }) => (await caller.ask?.(about, signal)) ?? "cannot ask");
  const conversation = await converseInSession(clientCapabilities, { tools });
  const { clock, editor, atEditor } = conversation;
  return {
    ...conversation,
    async call(id, sessionId) {
      await editor({
        id: `call-${id}`,
        method: "_acp-skills/execute_skill",
        params: { name: "web.fetch", ...(sessionId && { sessionId }) },
      });
      await settled();
    },
    asked: () =>
      atEditor.filter(({ method }) => method === "session/request_permission") as ReturnType<
        AskingConversation["asked"]
      >,
    async reply(id) {
      await settled();
      return atEditor.find((message) => message.id === `call-${id}`)?.result;
    },
    async selects(id, optionId, afterMs = 400) {
      clock.pass(afterMs);
      await editor({ id, result: { outcome: { outcome: "selected", optionId } } });
    },
  };
}
