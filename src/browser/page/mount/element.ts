import { signal } from "@preact/signals";
import type { ReadableStore, SkillBrowserElement, SkillEventDetail } from "../element-types.ts";
import { mount } from "./mount.tsx";
import { createHttpSource } from "../source/http-source.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import { themes } from "../state/browser.ts";
import { createStoreSource } from "../source/store-source.ts";

const name = "acp-skill-browser";

class SkillBrowser extends HTMLElement implements SkillBrowserElement {
  static readonly observedAttributes = ["server", "url", "theme", "invokable"];

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #theme = signal(this.theme);
  #store: ReadableStore | undefined;
  #unmount: (() => void) | undefined;

  get server(): string | null {
    return this.getAttribute("server");
  }

  set server(address: string | null) {
    if (address === null) this.removeAttribute("server");
    else this.setAttribute("server", address);
  }

  get theme(): SkillBrowserElement["theme"] {
    return themes.find((theme) => theme === this.getAttribute("theme")) ?? null;
  }

  set theme(theme: SkillBrowserElement["theme"]) {
    if (theme === null) this.removeAttribute("theme");
    else this.setAttribute("theme", theme);
  }

  get store(): ReadableStore | undefined {
    return this.#store;
  }

  set store(store: ReadableStore | undefined) {
    if (store === this.#store) return;
    this.#store = store;
    if (this.isConnected) this.#restart();
  }

  connectedCallback(): void {
    // A store that was set before the element was defined hides the property of the class.
    if (Object.hasOwn(this, "store")) {
      const { store } = this;
      Reflect.deleteProperty(this, "store");
      this.#store = store;
    }
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string): void {
    if (name === "theme") this.#theme.value = this.theme;
    else if (this.isConnected) this.#restart();
  }

  #restart(): void {
    this.#stop();
    const source = this.#openSource();
    if (source === undefined) return;
    const notify = (type: "acp-skill-open" | "acp-skill-invoke", detail: SkillEventDetail): void =>
      void this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    this.#unmount = mount(this.#root, source, {
      isPage: this.hasAttribute("url"),
      theme: this.#theme,
      isInvokable: this.hasAttribute("invokable"),
      notify,
    });
  }

  #stop(): void {
    this.#unmount?.();
    this.#unmount = undefined;
  }

  #openSource(): BrowserSkillSource | undefined {
    if (this.#store !== undefined) return createStoreSource(this.#store);
    return this.server === null ? undefined : createHttpSource(this.server.replace(/\/$/, ""));
  }
}

// A second copy of this script on a page changes nothing.
if (customElements.get(name) === undefined) customElements.define(name, SkillBrowser);
