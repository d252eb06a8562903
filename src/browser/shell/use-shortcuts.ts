import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { useBrowser, type Browser } from "../state/browser.ts";

/** Keys that work everywhere: in the browser's own page wherever the focus is, elsewhere only while the focus is in the browser. */
export function useShortcuts(root: RefObject<HTMLElement | null>, sheet: RefObject<HTMLDialogElement | null>): void {
  const browser = useBrowser();
  useEffect(() => {
    const target = browser.isPage ? window : root.current;
    const press = (event: Event): void => {
      if (event instanceof KeyboardEvent && root.current !== null) answer(event, root.current, sheet.current, browser);
    };
    target?.addEventListener("keydown", press);
    return () => target?.removeEventListener("keydown", press);
  }, [browser, root, sheet]);
}

function answer(event: KeyboardEvent, root: HTMLElement, sheet: HTMLDialogElement | null, { places }: Browser): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || sheet?.open === true) return;
  const isTyping = isTextField(event.composedPath()[0]);
  if (event.key === "Escape") {
    places.back();
    event.preventDefault();
  } else if (isTyping) return;
  else if (event.key === "/") {
    places.open({ view: "skills" });
    // The field may only now be rendered.
    requestAnimationFrame(() => root.querySelector<HTMLElement>("input[type=search]")?.focus());
    event.preventDefault();
  } else if (event.key === "?") {
    sheet?.showModal();
    event.preventDefault();
  }
}

function isTextField(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
