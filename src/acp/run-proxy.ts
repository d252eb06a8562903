import type { Readable, Writable } from "node:stream";
import { type InjectedOptions, type SkillsOptions, readOptions } from "../runtime/options.ts";
import { createDeferred } from "../base/promises.ts";
import { loadInterceptor } from "./relay/load-interceptor.ts";
import { Routing, relayChain } from "./relay/relay-chain.ts";
import { flush, lineWriter } from "./relay/relay-lines.ts";

export interface RunProxyOptions {
  /** The bytes from the conductor. */
  readonly input: Readable;
  /** The bytes to the conductor. The stream is not ended. */
  readonly output: Writable;
  /** Ends the proxy before the conductor does. */
  readonly signal?: AbortSignal;
  readonly options?: SkillsOptions;
}

/**
 * Adds skills as one proxy in a chain that a conductor runs. Resolves when the conductor has closed a stream. The interceptor is that of
 * `wrapCommand`; only the envelopes differ. Rejects with SkillsError INVALID_OPTIONS.
 */
export async function runProxy(
  { input, output, signal, options }: RunProxyOptions,
  injected: InjectedOptions = {},
): Promise<void> {
  const settings = readOptions(options, injected);
  const { intercept, service } = await loadInterceptor(settings);
  const routing = new Routing(settings.log);
  const send = lineWriter(output);
  const interceptor = intercept({
    // Both write to the conductor, which routes a response by its id. All other messages of acp-skills are for the editor.
    toEditor: send,
    toAgent: (line) => send(line, () => undefined),
    waitedInLines: () => relay.waitedInLines(),
  });
  const { promise: left, resolve: leave } = createDeferred();
  output.once("error", leave).once("close", leave);
  if (signal?.aborted === true || output.destroyed) leave();
  signal?.addEventListener("abort", () => leave(), { once: true });
  const relay = relayChain(input, output, routing, interceptor);
  void relay.sourceEnded.then(interceptor.editorLeft);
  await Promise.race([relay.ended, left]);
  interceptor.close();
  await service?.close();
  relay.stop();
  await Promise.race([flush(output), left]);
}
