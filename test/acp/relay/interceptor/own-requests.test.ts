import { expect, test } from "vitest";
import { OwnRequests } from "../../../../src/acp/relay/interceptor/own-requests.ts";
import { Interceptor } from "../../../../src/acp/relay/interceptor.ts";
import type { ServiceOutlet } from "../../../../src/acp/skill-service.ts";
import { readOptions } from "../../../../src/runtime/options.ts";
import { fakeService } from "../../fake-service.ts";

const line = Buffer.from('{"a":"request"}\n');
const answer = (id: string): object => ({ id, result: { outcome: { outcome: "selected", optionId: "x" } } });

function open() {
  const sent: unknown[] = [];
  const replies: unknown[] = [];
  const shown: string[] = [];
  const writing: (() => void)[] = [];
  const time = { now: 0 };
  const requests = new OwnRequests({
    send: (bytes, written) => {
      sent.push(JSON.parse(Buffer.from(bytes).toString()));
      writing.push(written);
    },
    shown: (id) => void shown.push(id),
    replied: (id, reply, elapsedMs) => void replies.push([id, reply, elapsedMs]),
    time: () => time.now,
  });
  return { requests, sent, replies, shown, writing, time };
}

test("reports when a request was written, and measures how long the editor took from then on", () => {
  const { requests, replies, shown, writing, time } = open();
  requests.request("one", line);
  requests.request("two", line);
  time.now = 1_000;
  expect(shown).toEqual([]);
  writing[0]?.();
  expect(shown).toEqual(["one"]);
  time.now = 1_250;
  requests.take(answer("one"));
  requests.take(answer("two"));
  writing[1]?.();
  expect(replies).toEqual([
    ["one", { optionId: "x" }, 250],
    ["two", { optionId: "x" }, 0],
  ]);
  expect(shown).toEqual(["one"]);
});

test("takes only responses to what was requested, each request's first one", () => {
  const { requests, sent, replies } = open();
  expect(requests.isEmpty).toBe(true);
  requests.request("one", line);
  expect([sent, requests.isEmpty]).toEqual([[{ a: "request" }], false]);
  expect(requests.take(answer("two"))).toBe(false);
  expect(requests.take({ id: "one", method: "session/prompt" })).toBe(false);
  expect(requests.take([answer("one")])).toBe(false);
  expect([requests.take(answer("one")), requests.take(answer("one"))]).toEqual([true, true]);
  expect(replies).toEqual([["one", { optionId: "x" }, 0]]);
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
    ["one", left, 0],
    ["two", left, 0],
  ]);
  expect(sent).toHaveLength(1);
});

test("withdraws open questions when the thread that asked has ended", async () => {
  let outlet: ServiceOutlet | undefined;
  const service = fakeService();
  const sent: unknown[] = [];
  const interceptor = new Interceptor({
    service: {
      ...service,
      connect(given) {
        outlet = given;
        return service.connect(given);
      },
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
