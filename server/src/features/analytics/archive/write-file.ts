import { open } from 'node:fs/promises';

import { fileWriter, ParquetWriter } from 'hyparquet-writer';

import type { TextRow } from '#server/db/hot-statement.ts';

import { CODEC, COLUMN_NAMES, compressors, SCHEMA } from './event-columns.ts';

/**
 * Bounds the memory of writing and of reading: some 250 MB more than that of another command, for a day of any size. Twice as many
 * rows take 100 MB more, and make the file 1 % smaller.
 */
const ROW_GROUP_ROWS = 10_000;

/** Only the owner may read events. */
const FILE_MODE = 0o600;

/**
 * Writes the events of a day to a new Parquet file, in row groups, and flushes it to the disk.
 * @param onRows called with the number of events so far
 */
export async function writeEventFile(
  path: string,
  batches: AsyncIterable<readonly TextRow[]>,
  onRows: (events: number) => void,
): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    const writer = new RowGroupWriter(path);
    for await (const rows of batches) onRows(writer.add(rows));
    writer.finish();
    await file.sync();
  } finally {
    await file.close();
  }
}

type Values = (string | bigint | Uint8Array | null)[];

/** The library stringifies the values of a JSON column, and these texts are JSON already. */
const WRITTEN_SCHEMA = SCHEMA.map(({ converted_type: type, ...column }) =>
  type === undefined || type === 'JSON' ? column : { ...column, converted_type: type },
);

class RowGroupWriter {
  readonly #writer: ParquetWriter;
  #columns: Values[] = COLUMN_NAMES.map(() => []);
  #pending = 0;
  #events = 0;

  constructor(path: string) {
    this.#writer = new ParquetWriter({
      writer: fileWriter(path),
      schema: WRITTEN_SCHEMA,
      codec: CODEC,
      compressors,
      createdBy: 'latchkey',
    });
  }

  /** Returns the number of rows so far. */
  add(rows: readonly TextRow[]): number {
    for (const row of rows) {
      for (const [index, column] of this.#columns.entries()) {
        column.push(toValue(row[index] ?? null, index));
      }
    }
    this.#pending += rows.length;
    this.#events += rows.length;
    if (this.#pending >= ROW_GROUP_ROWS) this.#flush();
    return this.#events;
  }

  finish(): void {
    if (this.#pending > 0) this.#flush();
    this.#writer.schema = [...SCHEMA];
    void this.#writer.finish();
  }

  #flush(): void {
    const columnData = COLUMN_NAMES.map((name, index) => ({
      name,
      data: this.#columns[index] ?? [],
      // A search by install or time skips row groups by these; those of the others would only be large.
      statistics: name === 'install_id' || name === 'received_at',
    }));
    void this.#writer.write({ columnData, rowGroupSize: this.#pending });
    this.#columns = COLUMN_NAMES.map(() => []);
    this.#pending = 0;
  }
}

const encoder = new TextEncoder();

function toValue(field: string | null, index: number): string | bigint | Uint8Array | null {
  const name = COLUMN_NAMES[index] ?? '';
  if (field === null) return null;
  if (name.endsWith('_at')) return BigInt(field);
  return name === 'props' ? encoder.encode(field) : field;
}
