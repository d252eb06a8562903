// A small ACP editor: starts an agent command, opts in to skills, and prints what it receives.
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { execa } from "execa";
import { observeSkills, optIn, readAdvertisement } from "acp-skills";

/** @import { AvailableSkill, ServedToolName, ToolOutput } from "acp-skills" */

/**
 * @param {{ command: string[], cwd: string, env?: Record<string, string>, print: (line: string) => void }} options
 */
export async function openEditor({ command: [file = "", ...args], cwd, env, print }) {
  const child = execa(file, args, {
    ...(env && { env }),
    stderr: "inherit",
    reject: false,
    encoding: "buffer",
    buffer: false,
  });
  /** @type {readonly AvailableSkill[]} */
  let skills = [];
  /** @type {readonly { name: string }[]} */
  let commands = [];
  /** @type {Set<() => void>} */
  const watchers = new Set();
  let said = "";
  /** The title of the last question to the person. */
  let asked = "";

  const stream = observeSkills(
    ndJsonStream(Writable.toWeb(child.stdin), /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(child.stdout))),
    (update) => {
      skills = update.skills;
      for (const check of watchers) check();
    },
  );
  const connection = client({ name: "example-editor" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "available_commands_update") {
        commands = update.availableCommands;
        print(`  < commands: ${commands.map(({ name }) => `/${name}`).join(" ")}`);
      }
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") said += update.content.text;
      for (const check of watchers) check();
    })
    .onRequest(methods.client.session.requestPermission, ({ params: { toolCall, options } }) => {
      asked = toolCall.title ?? "";
      print(`  < ${asked}? ${options.map(({ name }) => name).join(" · ")}`);
      const no = options.find(({ kind }) => kind === "reject_once");
      return { outcome: no ? { outcome: "selected", optionId: no.optionId } : { outcome: "cancelled" } };
    })
    .onNotification("_acp-skills/progress", readProgress, ({ params }) => {
      print(`  < ${params.message.trimEnd()}`);
    })
    .connect(stream);

  const initialized = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "example-editor", version: "1.0.0" },
    clientCapabilities: { ...optIn({ commands: true }) },
  });
  const { sessionId } = await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });

  return {
    advertisement: readAdvertisement(initialized),
    skills: () => skills,
    /** This editor's person always answers: not now. */
    asked: () => asked,
    commands: () => commands,
    /**
     * Waits until `condition` holds; false when it does not within ten seconds.
     * @param {() => boolean} condition
     * @returns {Promise<boolean>}
     */
    until(condition) {
      return new Promise((resolve) => {
        const check = () => {
          if (condition()) finish(true);
        };
        const timer = setTimeout(() => {
          finish(false);
        }, 10_000);
        /** @param {boolean} holds */
        const finish = (holds) => {
          clearTimeout(timer);
          watchers.delete(check);
          resolve(holds);
        };
        watchers.add(check);
        check();
      });
    },
    /**
     * Sends a prompt and returns all the agent said.
     * @param {string} text
     */
    async prompt(text) {
      said = "";
      await connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
      return said;
    },
    /**
     * Calls one of the tools that the agent advertises; no model is involved.
     * @template {ServedToolName} Name
     * @param {Name} tool
     * @param {Record<string, unknown>} input
     * @returns {Promise<ToolOutput<Name>>}
     */
    call: (tool, input) => connection.agent.request(`_acp-skills/${tool}`, { sessionId, ...input }),
    /** Closes the agent's stdin, as an editor does; resolves to the exit code. */
    async close() {
      child.stdin.end();
      const { exitCode } = await child;
      return exitCode;
    },
  };
}

/**
 * What code prints while it runs.
 * @param {unknown} params
 */
function readProgress(params) {
  return /** @type {{ requestId: string | number, message: string }} */ (params);
}
