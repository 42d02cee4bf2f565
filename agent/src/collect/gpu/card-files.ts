import { every } from '../../collector.ts';
import type { BackgroundReader } from '../../read/background-reader.ts';
import { parseNumber } from '../../read/small-file.ts';

/** Files that could not be read are tried again this often. */
const LOOK_INTERVAL_MS = 10_000;

/** The files of one card whose driver may take long: what is told is what was read after the tick before. */
export class CardFiles {
  readonly #reader: BackgroundReader;
  readonly #asked = new Set<string>();
  readonly #isLookDue = every(LOOK_INTERVAL_MS);

  constructor(reader: BackgroundReader) {
    this.#reader = reader;
  }

  text(path: string): string | null {
    this.#asked.add(path);
    return this.#reader.textOf(path);
  }

  number(path: string): number | null {
    return parseNumber(this.text(path));
  }

  /** Begins to read all that was asked for. */
  refresh(atMs: number): void {
    const isLookDue = this.#isLookDue(atMs);
    const paths = [...this.#asked];
    this.#reader.refresh(
      isLookDue ? paths : paths.filter((path) => this.#reader.textOf(path) !== null),
    );
  }

  forget(): void {
    this.#reader.forget(this.#asked);
  }
}
