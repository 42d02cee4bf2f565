/** The parameter of the address that opens the wall view. */
const WALL_PARAMETER = 'wall';

/** The wall view: the page covers everything around it, without controls. The address keeps it. */
export class Wall {
  readonly #root: HTMLElement;
  readonly #inert: HTMLElement[] = [];

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  get isOpen(): boolean {
    return this.#root.dataset['wall'] === 'true';
  }

  /** Whether the address asks for the wall. */
  get isWanted(): boolean {
    return new URLSearchParams(location.search).has(WALL_PARAMETER);
  }

  set(isOpen: boolean): void {
    if (isOpen === this.isOpen) return;
    this.#root.dataset['wall'] = String(isOpen);
    if (isOpen) this.#coverOthers();
    else this.#uncoverOthers();
    const url = new URL(location.href);
    if (isOpen) url.searchParams.set(WALL_PARAMETER, '');
    else url.searchParams.delete(WALL_PARAMETER);
    history.replaceState(history.state, '', url);
  }

  close(): void {
    this.#uncoverOthers();
  }

  /** Keeps the focus and screen readers out of what is covered. */
  #coverOthers(): void {
    for (let each = this.#root; each !== document.body;) {
      const parent = each.parentElement;
      if (parent === null) return;
      for (const other of parent.children) {
        if (other === each || !(other instanceof HTMLElement) || other.inert) continue;
        other.inert = true;
        this.#inert.push(other);
      }
      each = parent;
    }
  }

  #uncoverOthers(): void {
    for (const other of this.#inert.splice(0)) other.inert = false;
  }
}
