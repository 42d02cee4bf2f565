/** Lines about the progress: rewritten in place in a terminal, else one for each step. */
export class Progress {
  readonly #startedAt = performance.now();
  readonly #isTerminal = process.stdout.isTTY;
  #step: string | null = null;
  #line = '';

  report(step: string, figures: string): void {
    if (this.#step !== null && this.#step !== step) this.end();
    this.#step = step;
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1).padStart(5);
    this.#line = `  ${seconds} s  ${step.padEnd(12)} ${figures}`;
    if (this.#isTerminal) process.stdout.write(`\r\u001B[2K${this.#line}`);
  }

  /** Ends the line of the present step. */
  end(): void {
    if (this.#step === null) return;
    process.stdout.write(this.#isTerminal ? '\n' : `${this.#line}\n`);
    this.#step = null;
  }
}
