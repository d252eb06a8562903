import type { ReadableStore, SkillBrowserElement } from "../element-types.ts";
import { mount } from "./mount.tsx";
import { createHttpSource } from "../source/http-source.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import { createStoreSource } from "../source/store-source.ts";

const name = "acp-skill-browser";

class SkillBrowser extends HTMLElement implements SkillBrowserElement {
  static readonly observedAttributes = ["server", "url"];

  readonly #root = this.attachShadow({ mode: "open" });
  #store: ReadableStore | undefined;
  #unmount: (() => void) | undefined;

  get server(): string | null {
    return this.getAttribute("server");
  }

  set server(address: string | null) {
    if (address === null) this.removeAttribute("server");
    else this.setAttribute("server", address);
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
    // What was set before the element was defined hides the property of the class.
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

  attributeChangedCallback(): void {
    if (this.isConnected) this.#restart();
  }

  #restart(): void {
    this.#stop();
    const source = this.#openSource();
    if (source !== undefined) this.#unmount = mount(this.#root, source, this.hasAttribute("url"));
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
