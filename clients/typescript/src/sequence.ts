/** Runs work one after the other. */
export class Sequence {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs work after all earlier work, also if that failed. */
  run<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = this.#last.then(work);
    this.#last = outcome.catch(() => undefined);
    return outcome;
  }
}
