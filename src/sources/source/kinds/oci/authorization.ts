import type { RemoteAnswer } from "../../../fetch.ts";

/** What requests to a repository are allowed with. */
export interface RegistryAuthorization {
  headers(): Readonly<Record<string, string>>;
  /** Asks for what an answer with status 401 wants; whether the request is worth repeating. */
  renew(answer: RemoteAnswer, signal: AbortSignal): Promise<boolean>;
}

/** Nobody. */
export const anonymous: RegistryAuthorization = { headers: () => ({}), renew: () => Promise.resolve(false) };
