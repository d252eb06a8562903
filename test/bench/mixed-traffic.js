import { Agent, request } from "node:http";

/**
 * Where the traffic goes, and the token of a caller that sees the skill.
 * @typedef {object} Target
 * @property {string} url
 * @property {string} token
 * @property {string} skill of instructions; its slug
 * @property {string} [action] a skill to execute, where that works
 */

/**
 * Sends one request of every kind, `times` times, a few at a time.
 * @param {Target} target
 * @param {number} times
 * @returns {Promise<string[]>} what was answered otherwise than it should be
 */
export async function sendMixedTraffic(target, times) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const kinds = kindsOf(target);
  /** @type {string[]} */
  const wrong = [];
  let lastEventId = "";
  for (let time = 0; time < times; time++) {
    await Promise.all(
      kinds.map(async ({ path, expected, ...sent }) => {
        const { status } = await send(target, agent, path, sent);
        if (!expected.includes(status)) wrong.push(`${sent.method ?? "GET"} ${path}: ${status}`);
      }),
    );
    lastEventId = await listen(target, lastEventId);
    if (lastEventId === "") wrong.push("/events: no event");
    await leaveHalfWay(target);
  }
  agent.destroy();
  return wrong;
}

/** @typedef {{ readonly method?: string, readonly headers?: Record<string, string>, readonly body?: string }} Sent */

/**
 * @param {Target} target
 * @returns {readonly (Sent & { readonly path: string, readonly expected: readonly number[] })[]}
 */
function kindsOf({ skill, action }) {
  const call = (/** @type {string} */ method, /** @type {object} */ params) => ({
    jsonrpc: "2.0",
    id: 1,
    method,
    params,
  });
  const rpc = (/** @type {object} */ body) => ({
    path: "/rpc",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    expected: [200],
  });
  return [
    rpc(call("list_skills", {})),
    rpc(call("list_skills", { query: skill, detail: "summary" })),
    rpc(call("describe_skill", { name: skill, detail: "full" })),
    rpc(call("read_skill_file", { name: skill, path: "SKILL.md" })),
    rpc([call("list_skills", {}), call("describe_skill", { name: "none" }), call("nothing", {})]),
    rpc(call("create_blob", { content: "x".repeat(10_000), kind: "text/plain" })),
    ...(action === undefined ? [] : [rpc(call("execute_skill", { name: action }))]),
    { path: "/.well-known/skill-sharing", expected: [200] },
    { path: "/.well-known/skill-sharing", headers: { "if-none-match": "*" }, expected: [304] },
    { path: "/skills?type=knowledge&limit=1", expected: [200] },
    { path: `/skills/${skill}/descriptor.json`, expected: [200] },
    { path: "/.well-known/agent-skills/index.json", expected: [200] },
    { path: "/marketplace.json", expected: [200] },
    { path: "/metrics", expected: [200] },
    { path: "/healthz", expected: [200] },
    { path: "/nothing", expected: [404] },
    { path: "/skills", headers: { authorization: "Bearer wrong" }, expected: [401, 429] },
    { ...rpc({}), body: "{", expected: [200] },
    { ...rpc({}), headers: { "content-type": "text/plain" }, expected: [415] },
  ];
}

/**
 * @param {Target} target
 * @param {Agent} agent
 * @param {string} path
 * @param {Sent} sent
 * @returns {Promise<{ readonly status: number }>}
 */
function send({ url, token }, agent, path, { method = "GET", headers = {}, body }) {
  return new Promise((resolve, reject) => {
    const given = { authorization: `Bearer ${token}`, ...headers };
    request(url + path, { method, agent, headers: given }, (response) => {
      response.resume().once("end", () => resolve({ status: response.statusCode ?? 0 }));
      response.once("error", reject);
    })
      .once("error", reject)
      .end(body);
  });
}

/**
 * Connects, waits for the first text, and leaves.
 * @param {Target} target
 * @param {string} lastEventId
 * @returns {Promise<string>} the id to resume from
 */
function listen({ url, token }, lastEventId) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(lastEventId !== "" && { "last-event-id": lastEventId }) };
    request(`${url}/events`, { headers, agent: false }, (response) => {
      response.setEncoding("utf8").once("data", (/** @type {string} */ text) => {
        response.destroy();
        resolve([...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? lastEventId);
      });
    })
      .once("error", reject)
      .end();
  });
}

/**
 * Sends half of a body, and disconnects.
 * @param {Target} target
 * @returns {Promise<void>}
 */
function leaveHalfWay({ url, token }) {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": "1000",
    };
    const sent = request(`${url}/rpc`, { method: "POST", headers, agent: false });
    sent.once("error", () => resolve());
    sent.write('{"jsonrpc":', () => {
      sent.destroy(new Error("left"));
    });
  });
}
