import { openStorage } from '../../browser/dom.ts';
import type { GroupBy } from './grouping.ts';
import { findQuantity, type Quantity } from './quantities.ts';

/** What a person chose, kept in the browser. */
export class Settings {
  readonly #quantity = openStorage('localStorage', 'latchkey.fleet.quantity');
  readonly #groupBy = openStorage('localStorage', 'latchkey.fleet.group');
  readonly #folded = openStorage('localStorage', 'latchkey.fleet.folded');

  get quantity(): Quantity {
    return findQuantity(this.#quantity.read() ?? '');
  }

  set quantity({ key }: Quantity) {
    this.#quantity.write(key);
  }

  /** Null: nobody chose. */
  get groupBy(): GroupBy | null {
    const kept = this.#groupBy.read();
    return kept === 'label' || kept === 'name' || kept === 'none' ? kept : null;
  }

  set groupBy(by: GroupBy | null) {
    this.#groupBy.write(by);
  }

  isFolded(group: string): boolean {
    return this.#readFolded().includes(group);
  }

  setFolded(group: string, isFolded: boolean): void {
    const others = this.#readFolded().filter((each) => each !== group);
    const folded = isFolded ? [...others, group] : others;
    this.#folded.write(folded.length === 0 ? null : JSON.stringify(folded));
  }

  #readFolded(): readonly string[] {
    return parseNames(this.#folded.read());
  }
}

/** Parses a list of names; empty when another version of the page wrote something else. */
function parseNames(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
