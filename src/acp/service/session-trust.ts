import type { App } from "../../runtime/app.ts";
import type { Trust } from "../../runtime/trust.ts";

type Signals = Pick<Trust, "consent" | "newTurn" | "endSession">;

/** Notifies trust of what people do in sessions. This does not load trust: until something else does, consents are held back. */
export function createTrustSignals({ onTrust }: Pick<App, "onTrust">): Signals {
  let trust: Trust | undefined;
  const consents = new Map<string, Set<string>>();
  onTrust((loaded) => {
    trust = loaded;
    for (const [owner, directories] of consents) for (const directory of directories) loaded.consent(owner, directory);
    consents.clear();
  });
  return {
    consent(owner, directory) {
      if (trust === undefined) consents.set(owner, (consents.get(owner) ?? new Set()).add(directory));
      else trust.consent(owner, directory);
    },
    newTurn(owner) {
      trust?.newTurn(owner);
    },
    endSession(owner) {
      consents.delete(owner);
      trust?.endSession(owner);
    },
  };
}
