import type { RefObject, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useBrowser, type Browser } from "../state/browser.ts";
import { IconButton } from "../components/icon.tsx";

/** Adds the shortcuts. In the browser's own page they work for any focus, in another page only while the focus is in the browser. */
export function useShortcuts(root: RefObject<HTMLElement | null>, sheet: RefObject<HTMLDialogElement | null>): void {
  const browser = useBrowser();
  useEffect(() => {
    const target = browser.isPage ? window : root.current;
    const press = (event: Event): void => {
      if (event instanceof KeyboardEvent && root.current !== null) act(event, root.current, sheet.current, browser);
    };
    target?.addEventListener("keydown", press);
    return () => target?.removeEventListener("keydown", press);
  }, [browser, root, sheet]);
}

function act(event: KeyboardEvent, root: HTMLElement, sheet: HTMLDialogElement | null, { navigation }: Browser): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || sheet?.open === true) return;
  // An open dialog gets the keys.
  if (root.querySelector("dialog[open]") !== null) return;
  const isTyping = isTyped(event.composedPath()[0]);
  if (event.key === "Escape") {
    navigation.back();
    event.preventDefault();
  } else if (isTyping) return;
  else if (event.key === "/") {
    focusSearch(root, navigation);
    event.preventDefault();
  } else if (event.key === "?") {
    sheet?.showModal();
    event.preventDefault();
  }
}

function focusSearch(root: HTMLElement, navigation: Browser["navigation"]): void {
  const find = (): HTMLElement | null => root.querySelector(".search input");
  const isShown = find()?.checkVisibility() === true;
  if (!isShown) navigation.open({ view: "skills" });
  // A list that was not shown is rendered in the next frame.
  if (isShown) find()?.focus();
  else requestAnimationFrame(() => find()?.focus());
}

function isTyped(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Shortcuts work in an empty search box, which has the focus at first: no search begins with such a key.
  if (target instanceof HTMLInputElement)
    return (
      !["checkbox", "radio", "button", "submit"].includes(target.type) &&
      !(target.type === "search" && target.value === "")
    );
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

const shortcuts: readonly (readonly [string, string])[] = [
  ["/", "Search"],
  ["↑ ↓", "Move in the list"],
  ["Home End", "First, last skill"],
  ["PgUp PgDn", "A screenful up, down"],
  ["Enter", "Open the skill"],
  ["Esc", "Clear the search; go back to the list"],
  ["?", "Show these shortcuts"],
];

/** The dialog that lists the shortcuts. Escape closes it. */
export function ShortcutSheet({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }): JSX.Element {
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="shortcut-title">
      <header>
        <h2 id="shortcut-title">Keyboard shortcuts</h2>
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
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
