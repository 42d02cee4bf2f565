import type { Catalog } from '#server/config/catalog-model.ts';

import type { ForeignProduct, ImportSource } from '../facts.ts';
import { suggestProduct } from './map-product.ts';

/**
 * The outcome of a row.
 * - `new`: a license is created; `renewed`: it was imported before, and its end is later now.
 * - `same`: it was imported before, or a license of the same product has its key: unchanged.
 * - `key_added`: payments created its license here; the key is added to it.
 * - `conflict`: a license exists with other values; it is unchanged.
 * - `duplicate`: an earlier row has the same key or id.
 * - `weak`: its key can be guessed. `bad`: it cannot be imported. `skipped`: left out on purpose.
 * - `unknown_product`: its product is not mapped.
 */
const ROW_OUTCOMES = [
  'new',
  'renewed',
  'same',
  'key_added',
  'conflict',
  'duplicate',
  'weak',
  'bad',
  'skipped',
  'unknown_product',
] as const;

export type RowOutcome = (typeof ROW_OUTCOMES)[number];

/** Outcomes of rows without a license in the end, of which an operator must decide. */
export const FAILED_OUTCOMES: readonly RowOutcome[] = [
  'conflict',
  'duplicate',
  'weak',
  'bad',
  'unknown_product',
];

/** Problems that a report lists; further ones are only counted. */
const MAX_PROBLEMS = 200;

/** Different unknown products that a report lists. */
const MAX_UNKNOWN_PRODUCTS = 100;

export interface RowProblem {
  readonly line: number;
  readonly outcome: RowOutcome;
  /** A sentence without keys and addresses. */
  readonly problem: string;
}

/** A product of the source without a product of the catalogue. */
export interface UnknownProduct {
  readonly id: string;
  readonly name: string | null;
  readonly rows: number;
  /** The id of a product with a similar name. */
  readonly suggestion: string | null;
}

/** The result of an import or of its rehearsal. */
export interface ImportReport {
  readonly source: ImportSource;
  readonly rows: number;
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** New licenses by product. */
  readonly products: Readonly<Record<string, number>>;
  /** Facts about new licenses that need an operator's look. */
  readonly notes: {
    readonly without_address: number;
    readonly with_generated_key: number;
    readonly with_unknown_end: number;
    readonly not_usable: number;
    readonly more_devices_than_allowed: number;
    readonly seats: number;
  };
  readonly unknown_products: readonly UnknownProduct[];
  readonly problems: readonly RowProblem[];
  /** Problems that are not listed. */
  readonly further_problems: number;
}

type Note = keyof ImportReport['notes'];

/** Counts the outcomes of the rows of an import. Its size does not grow with their number. */
export class ReportBuilder {
  readonly #source: ImportSource;
  #rows = 0;
  readonly #outcomes = new Map<RowOutcome, number>();
  readonly #products = new Map<string, number>();
  readonly #notes = new Map<Note, number>();
  readonly #unknown = new Map<string, ForeignProduct & { rows: number }>();
  readonly #problems: RowProblem[] = [];
  #furtherProblems = 0;

  constructor(source: ImportSource) {
    this.#source = source;
  }

  /** The number of rows so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Counts a row; returns its problem when the report lists it. */
  add(line: number, outcome: RowOutcome, problem: string | null = null): RowProblem | null {
    this.#rows += 1;
    increase(this.#outcomes, outcome);
    if (problem === null) return null;
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#furtherProblems += 1;
      return null;
    }
    const entry = { line, outcome, problem };
    this.#problems.push(entry);
    return entry;
  }

  addProduct(productId: string): void {
    increase(this.#products, productId);
  }

  addNote(note: Note, count = 1): void {
    increase(this.#notes, note, count);
  }

  /** Counts a row of an unknown product; returns whether it is the first one, whose problem stands for all. */
  addUnknownProduct(product: ForeignProduct): boolean {
    const known = this.#unknown.get(product.id);
    if (known !== undefined) known.rows += 1;
    else if (this.#unknown.size < MAX_UNKNOWN_PRODUCTS) {
      this.#unknown.set(product.id, { ...product, rows: 1 });
    }
    return known === undefined;
  }

  build(catalog: Catalog): ImportReport {
    const noteOf = (note: Note): number => this.#notes.get(note) ?? 0;
    return {
      source: this.#source,
      rows: this.#rows,
      outcomes: countOutcomes(this.#outcomes),
      products: Object.fromEntries(this.#products),
      notes: {
        without_address: noteOf('without_address'),
        with_generated_key: noteOf('with_generated_key'),
        with_unknown_end: noteOf('with_unknown_end'),
        not_usable: noteOf('not_usable'),
        more_devices_than_allowed: noteOf('more_devices_than_allowed'),
        seats: noteOf('seats'),
      },
      unknown_products: Array.from(this.#unknown.values(), ({ id, name, rows }) => {
        const names = name === null ? [id] : [id, name];
        return { id, name, rows, suggestion: suggestProduct(names, catalog) };
      }),
      problems: [...this.#problems],
      further_problems: this.#furtherProblems,
    };
  }
}

function countOutcomes(counts: ReadonlyMap<RowOutcome, number>): Record<RowOutcome, number> {
  const countOf = (outcome: RowOutcome): number => counts.get(outcome) ?? 0;
  return {
    new: countOf('new'),
    renewed: countOf('renewed'),
    same: countOf('same'),
    key_added: countOf('key_added'),
    conflict: countOf('conflict'),
    duplicate: countOf('duplicate'),
    weak: countOf('weak'),
    bad: countOf('bad'),
    skipped: countOf('skipped'),
    unknown_product: countOf('unknown_product'),
  };
}

function increase<Key>(counts: Map<Key, number>, key: Key, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
