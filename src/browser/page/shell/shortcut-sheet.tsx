import type { JSX, RefObject } from "preact";
import { Icon } from "../parts/icon.tsx";

const shortcuts: readonly (readonly [string, string])[] = [
  ["/", "Search"],
  ["↑ ↓", "Move in the list"],
  ["Home End", "First, last skill"],
  ["PgUp PgDn", "A screenful up, down"],
  ["Enter", "Open the skill"],
  ["Esc", "Clear the search; go back to the list"],
  ["?", "Show these shortcuts"],
];

/** What the keyboard does. Closed with Escape. */
export function ShortcutSheet({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }): JSX.Element {
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="shortcut-title">
      <header>
        <h2 id="shortcut-title">Keyboard shortcuts</h2>
        <button type="button" class="button plain" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      <dl class="keys">
        {shortcuts.map(([keys, words]) => (
          <>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </>
        ))}
      </dl>
    </dialog>
  );
}
