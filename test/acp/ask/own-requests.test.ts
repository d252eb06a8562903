import { expect, test } from "vitest";
import { OwnRequests } from "../../../src/acp/ask/own-requests.ts";
import { Interceptor } from "../../../src/acp/interceptor.ts";
import type { ServiceOutlet } from "../../../src/acp/service/skill-service.ts";
import { readOptions } from "../../../src/options.ts";
import { fakeService } from "../fake-service.ts";

const line = Buffer.from('{"a":"request"}\n');
const answer = (id: string): object => ({ id, result: { outcome: { outcome: "selected", optionId: "x" } } });

function open() {
  const sent: unknown[] = [];
  const replies: unknown[] = [];
  const requests = new OwnRequests({
    send: (bytes) => void sent.push(JSON.parse(Buffer.from(bytes).toString())),
    replied: (id, reply) => void replies.push([id, reply]),
  });
  return { requests, sent, replies };
}

test("takes only responses to what was requested, each request's first one", () => {
  const { requests, sent, replies } = open();
  expect(requests.isEmpty).toBe(true);
  requests.request("one", line);
  expect([sent, requests.isEmpty]).toEqual([[{ a: "request" }], false]);
  expect(requests.take(answer("two"))).toBe(false);
  expect(requests.take({ id: "one", method: "session/prompt" })).toBe(false);
  expect(requests.take([answer("one")])).toBe(false);
  expect([requests.take(answer("one")), requests.take(answer("one"))]).toEqual([true, true]);
  expect(replies).toEqual([["one", { optionId: "x" }]]);
});

test("cancels at the editor what nobody waits for any longer, and keeps late responses", () => {
  const { requests, sent, replies } = open();
  requests.request("one", line);
  requests.request("two", line);
  requests.take(answer("one"));
  requests.withdrawAll();
  requests.withdraw("two");
  expect(sent.slice(2)).toEqual([{ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "two" } }]);
  expect(requests.take(answer("two"))).toBe(true);
  expect(replies).toHaveLength(1);
});

test("remembers the latest 1,024 requests that are over", () => {
  const { requests } = open();
  for (let count = 0; count < 1_025; count++) {
    requests.request(String(count), line);
    requests.withdraw(String(count));
  }
  expect([requests.take(answer("0")), requests.take(answer("1")), requests.take(answer("1024"))]).toEqual([
    false,
    true,
    true,
  ]);
});

test("answers for an editor that has left", () => {
  const { requests, sent, replies } = open();
  requests.request("one", line);
  requests.editorLeft();
  requests.request("two", line);
  requests.withdraw("one");
  const left = { fault: "the editor has left" };
  expect(replies).toEqual([
    ["one", left],
    ["two", left],
  ]);
  expect(sent).toHaveLength(1);
});

test("withdraws open questions when the thread that asked has ended", async () => {
  let outlet: ServiceOutlet | undefined;
  const service = fakeService();
  const sent: unknown[] = [];
  const interceptor = new Interceptor({
    service: {
      connect(given) {
        outlet = given;
        return service.connect(given);
      },
      close: () => service.close(),
    },
    settings: readOptions({}),
    send: (bytes) => void sent.push(JSON.parse(Buffer.from(bytes).toString())),
    reply: () => undefined,
  });
  outlet?.request("acp-skills:1", line);
  outlet?.ended();
  expect(sent.slice(1)).toEqual([
    { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "acp-skills:1" } },
  ]);
  expect(await interceptor.fromEditor(answer("acp-skills:1"))).toEqual({ forward: false });
});
