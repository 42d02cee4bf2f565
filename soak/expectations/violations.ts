/** A promise that was broken, and how often. */
export interface Violation {
  readonly sentence: string;
  count: number;
}

/** The most different sentences; further ones are only counted. */
const MAX_SENTENCES = 100;

/** Collects broken promises: each sentence once, with its number. */
export class Violations {
  readonly #bySentence = new Map<string, Violation>();
  #omitted = 0;

  add(sentence: string): void {
    const known = this.#bySentence.get(sentence);
    if (known !== undefined) known.count += 1;
    else if (this.#bySentence.size < MAX_SENTENCES)
      this.#bySentence.set(sentence, { sentence, count: 1 });
    else this.#omitted += 1;
  }

  /** Returns a sentence for each broken promise. */
  list(): string[] {
    const sentences = Array.from(this.#bySentence.values(), ({ count, sentence }) =>
      count === 1 ? sentence : `${sentence} (${count} times)`,
    );
    return this.#omitted === 0 ? sentences : [...sentences, `And ${this.#omitted} more.`];
  }
}
