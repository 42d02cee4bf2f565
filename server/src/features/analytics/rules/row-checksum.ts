import { hash } from 'node:crypto';

/** The fields of an event as texts. */
type TextRow = readonly (string | null)[];

/** The number of a day's events, and their checksum, which does not depend on their order. */
export interface DaySummary {
  readonly events: number;
  /** In decimal digits. */
  readonly checksum: string;
}

/**
 * Sums the first eight bytes of the SHA-256 hash of each row, as signed integers. The sum does not depend on the order, and
 * counts equal rows. `summarizeDay` computes the same in PostgreSQL.
 */
export class RowChecksum {
  #events = 0;
  #sum = 0n;

  add(rows: readonly TextRow[]): void {
    for (const row of rows) this.#sum += hashOf(row);
    this.#events += rows.length;
  }

  summarize(): DaySummary {
    return { events: this.#events, checksum: String(this.#sum) };
  }
}

/** Fields are prefixed by their length, so that two rows never have the same text. */
function hashOf(row: TextRow): bigint {
  let text = '';
  for (const field of row) text += field === null ? '-' : `${Buffer.byteLength(field)}:${field}`;
  return hash('sha256', text, 'buffer').readBigInt64BE(0);
}

/** Whether two summaries are those of the same events. */
export function isSame(a: DaySummary, b: DaySummary): boolean {
  return a.events === b.events && a.checksum === b.checksum;
}
