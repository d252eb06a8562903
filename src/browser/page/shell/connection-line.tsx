import type { JSX } from "preact";
import { Icon } from "../parts/icon.tsx";
import { useBrowser } from "../state/browser.ts";

/** Says when what is shown may not be up to date, and why. Empty while all is well. */
export function ConnectionLine(): JSX.Element {
  const { status } = useBrowser().source.connection.value;
  return (
    <div class="connection" role="status">
      {status === "lost" && (
        <>
          <Icon name="alert" />
          <span>The server does not answer. This page shows the last it heard, and keeps trying.</span>
        </>
      )}
      {status === "refused" && (
        <>
          <Icon name="ban" />
          <span>
            This address is no longer valid. Run <code>acp-skills browse</code> in a terminal and open the address that
            it prints.
          </span>
        </>
      )}
    </div>
  );
}
