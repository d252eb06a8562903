import type { SkillBrowserElement } from "./element-types.ts";
import { mount } from "./mount.tsx";
import { createHttpSource } from "./source/http-source.ts";
import type { SkillSource } from "./source/skill-source.ts";

class SkillBrowser extends HTMLElement implements SkillBrowserElement {
  static readonly observedAttributes = ["server", "url"];

  readonly #root = this.attachShadow({ mode: "open" });
  #unmount: (() => void) | undefined;

  get server(): string | null {
    return this.getAttribute("server");
  }

  set server(address: string | null) {
    if (address === null) this.removeAttribute("server");
    else this.setAttribute("server", address);
  }

  connectedCallback(): void {
    this.#restart();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(): void {
    if (this.#unmount !== undefined) this.#restart();
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

  #openSource(): SkillSource | undefined {
    return this.server === null ? undefined : createHttpSource(this.server.replace(/\/$/, ""));
  }
}

if (customElements.get("acp-skill-browser") === undefined) customElements.define("acp-skill-browser", SkillBrowser);
