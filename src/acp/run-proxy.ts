import type { Readable, Writable } from "node:stream";
import { type InjectedOptions, type SkillsOptions, readOptions } from "../runtime/options.ts";
import { createDeferred } from "../base/promises.ts";
import { loadInterceptor } from "./relay/load-interceptor.ts";
import { Routing, relayChain } from "./relay/relay-chain.ts";
import { flush, lineWriter } from "./relay/relay-lines.ts";

export interface RunProxyOptions {
  /** From the conductor. */
  readonly input: Readable;
  /** To the conductor; it is not ended. */
  readonly output: Writable;
  /** Ends the proxy before the conductor does. */
  readonly signal?: AbortSignal;
  readonly options?: SkillsOptions;
}

/**
 * Adds skills as one proxy in a chain, which a conductor runs; resolves when the conductor has closed an end. The interceptor is the
 * wrapper's: only the envelopes are different. Rejects with SkillsError INVALID_OPTIONS.
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
    // Both go to the conductor, which knows what a response is for by its id; all else of ours is for the editor.
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
