import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { SourceErrorAlert } from "../../answers/failure.tsx";
import type { InstallFlow } from "./use-installing.ts";

/** Asks for a source, and reads it. */
export function DiscoverForm({ installing }: { readonly installing: InstallFlow }): JSX.Element {
  const [text, setText] = useState("");
  const { doing, failed, discover, stop } = installing;
  const isReading = doing === "discover";
  return (
    <section aria-labelledby="add-title">
      <h3 id="add-title">Add skills from a source</h3>
      <form
        class="discover"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") discover(text);
        }}
      >
        <label for="source">Source</label>
        <input
          id="source"
          class="typed"
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={2_048}
          required
          aria-describedby="source-forms"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="button primary" aria-disabled={doing !== undefined}>
          {isReading ? "Reading …" : "Discover"}
        </button>
        {isReading && (
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        )}
      </form>
      <p id="source-forms" class="muted">
        A domain or URL, <code>OWNER/REPO</code> of GitHub, <code>git:URL</code> or <code>registry:URL</code>. Its
        server is asked what it offers; nothing is installed before you have reviewed it.
      </p>
      {failed?.doing === "discover" && <SourceErrorAlert error={failed.error} />}
    </section>
  );
}
