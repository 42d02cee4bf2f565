import type { FileHandle } from 'node:fs/promises';

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

import type { TextRow } from '#server/db/hot-statement.ts';

import { CODEC, COLUMN_NAMES, compressors, SCHEMA } from './event-columns.ts';

/**
 * Bounds the memory of writing and of reading: some 250 MB more than that of another command, for a day of any size. Twice as many
 * rows take 100 MB more, and make the file 1 % smaller.
 */
const ROW_GROUP_ROWS = 10_000;

/**
 * Writes the events of a day as Parquet to an empty file, in row groups.
 * @param onRows called with the number of events so far
 */
export async function writeEventFile(
  file: FileHandle,
  batches: AsyncIterable<readonly TextRow[]>,
  onRows: (events: number) => void,
): Promise<void> {
  const writer = new RowGroupWriter(file);
  for await (const rows of batches) onRows(await writer.add(rows));
  await writer.finish();
}

/** Writes to an open file, because its path may be that of another file later. */
class HandleWriter extends ByteWriter {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  /** Writes what is buffered; called after each row group, too. */
  async flush(): Promise<void> {
    await this.#file.appendFile(this.getBytes());
    this.index = 0;
  }
}

type Values = (string | bigint | Uint8Array | null)[];

/** The library stringifies the values of a JSON column, and these texts are JSON already. */
const WRITTEN_SCHEMA = SCHEMA.map(({ converted_type: type, ...column }) =>
  type === undefined || type === 'JSON' ? column : { ...column, converted_type: type },
);

class RowGroupWriter {
  readonly #output: HandleWriter;
  readonly #writer: ParquetWriter;
  #columns: Values[] = COLUMN_NAMES.map(() => []);
  #pending = 0;
  #events = 0;

  constructor(file: FileHandle) {
    this.#output = new HandleWriter(file);
    this.#writer = new ParquetWriter({
      writer: this.#output,
      schema: WRITTEN_SCHEMA,
      codec: CODEC,
      compressors,
      createdBy: 'latchkey',
    });
  }

  /** Returns the number of rows so far. */
  async add(rows: readonly TextRow[]): Promise<number> {
    for (const row of rows) {
      for (const [index, column] of this.#columns.entries()) {
        column.push(toValue(row[index] ?? null, index));
      }
    }
    this.#pending += rows.length;
    this.#events += rows.length;
    if (this.#pending >= ROW_GROUP_ROWS) await this.#flush();
    return this.#events;
  }

  async finish(): Promise<void> {
    if (this.#pending > 0) await this.#flush();
    this.#writer.schema = [...SCHEMA];
    await this.#writer.finish();
    await this.#output.flush();
  }

  async #flush(): Promise<void> {
    const columnData = COLUMN_NAMES.map((name, index) => ({
      name,
      data: this.#columns[index] ?? [],
      // A search by install or time skips row groups by these; those of the others would only be large.
      statistics: name === 'install_id' || name === 'received_at',
    }));
    await this.#writer.write({ columnData, rowGroupSize: this.#pending });
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
