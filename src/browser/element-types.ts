/**
 * `<acp-skill-browser>`: the skill browser as an element of any page. It gets its skills from the server of `acp-skills browse` on the same
 * origin (`server`: its address, may be empty), or from a store of `acp-skills/client` (`store`), and starts when it is connected.
 */
export interface SkillBrowserElement extends HTMLElement {
  server: string | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "acp-skill-browser": SkillBrowserElement;
  }
}
