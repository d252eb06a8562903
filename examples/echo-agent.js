#!/usr/bin/env node
// An ordinary ACP agent without skills: it echoes each prompt, which shows what a model would receive.
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

let sessions = 0;

agent({ name: "echo-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { promptCapabilities: { embeddedContext: true } },
    agentInfo: { name: "echo-agent", version: "1.0.0" },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: `echo-${++sessions}` }))
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    for (const block of params.prompt) {
      const text =
        block.type === "text"
          ? `text: ${block.text}`
          : block.type === "resource" && "text" in block.resource
            ? `resource ${block.resource.uri}:\n${block.resource.text}`
            : block.type;
      await client.notify(methods.client.session.update, {
        sessionId: params.sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n` } },
      });
    }
    return { stopReason: "end_turn" };
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout),
      /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(process.stdin)),
    ),
  );
