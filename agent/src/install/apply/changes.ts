/** The paths that a run has changed so far, so that who reads them is told once, and nobody in vain. */
export class Changes {
  readonly #paths: string[] = [];
  readonly #seen = new Map<string, number>();

  add(path: string): void {
    this.#paths.push(path);
  }

  /** Those since a reader was told last. */
  since(reader: string): readonly string[] {
    return this.#paths.slice(this.#seen.get(reader) ?? 0);
  }

  noteTold(reader: string): void {
    this.#seen.set(reader, this.#paths.length);
  }
}
