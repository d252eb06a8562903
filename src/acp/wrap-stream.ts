import { readOptions, type SkillsOptions } from "../options.ts";
import type { MessageStream } from "../wire/message-stream.ts";
import { interceptStream } from "./bytes/intercept-stream.ts";
import { shareService } from "./service/share-service.ts";

/**
 * For agent authors: pass the returned stream to the agent instead of `stream`, and its editor gets the skills of each session's
 * directories. Works with every SDK version. Throws SkillsError INVALID_OPTIONS.
 */
export function wrapStream<Message>(stream: MessageStream<Message>, options?: SkillsOptions): MessageStream<Message> {
  const settings = readOptions(options);
  const { service, release } = shareService(settings).use();
  return interceptStream(stream, service, settings, release);
}
