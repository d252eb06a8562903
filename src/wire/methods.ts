/** All protocol strings of this package. */

export const initialize = "initialize";
export const sessionNew = "session/new";
export const sessionLoad = "session/load";
export const sessionResume = "session/resume";
export const sessionFork = "session/fork";
export const sessionList = "session/list";
export const sessionClose = "session/close";
export const sessionDelete = "session/delete";
export const sessionArchive = "session/archive";
export const sessionSetTitle = "session/set_title";
export const sessionPrompt = "session/prompt";
/** Claude's extension: a message of the user during a turn, in the form of a prompt. */
export const sessionSteering = "_session/steering";
export const sessionUpdate = "session/update";
export const requestPermission = "session/request_permission";
export const elicitationCreate = "elicitation/create";
export const sessionCancel = "session/cancel";
export const toolCallCancel = "tool_call/cancel";
export const cancelRequest = "$/cancel_request";
/** Methods between a conductor and its proxies; the Rust SDK used the prefix `_` before they were in the schema. */
export const proxyInitialize = "proxy/initialize";
export const proxySuccessor = "proxy/successor";

/** `sessionUpdate` kinds. */
export const availableCommandsUpdate = "available_commands_update";
export const availableSkillsUpdate = "available_skills_update";
/** The list of skills for clients that permit only `_`-prefixed extensions; read, no longer sent. */
export const extensionSkillsUpdate = "_available_skills_update";
export const notice = "notice";
export const toolCall = "tool_call";
export const toolCallUpdate = "tool_call_update";
export const subagentUpdate = "subagent_update";
export const userMessageChunk = "user_message_chunk";
/** A whole prompt, in ACP v2. */
export const userMessage = "user_message";
export const sessionInfoUpdate = "session_info_update";

/** The prefix of the ids of requests that acp-skills itself sends to the editor. */
export const ownRequestPrefix = "acp-skills:";

/** The key of acp-skills in every `_meta`, and the prefix of its extension methods. */
export const metaKey = "acp-skills";
/** `_acp-skills/<tool>` is the editor's call of a tool of acp-skills. */
export const toolMethodPrefix = "_acp-skills/";
/** The output of running code, for the editor that called the tool: `{requestId, message}`. */
export const progressNotification = "_acp-skills/progress";
/** The number of problems of a session's skills: `{sessionId, errors, warnings}`; `_acp-skills/list_problems` returns them in pages. */
export const problemsNotification = "_acp-skills/problems";
export const listProblems = "list_problems";
/** The list of skills for clients whose SDK rejects unknown updates: the params of `available_skills_update`. */
export const skillsNotification = "_acp-skills/skills_update";

/** The stream of an ACP connection, of any SDK generation. */
export interface MessageStream<Message = unknown> {
  readonly readable: ReadableStream<Message>;
  readonly writable: WritableStream<Message>;
}
