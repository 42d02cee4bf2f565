import type { ForeignRow } from '../facts.ts';
import { mergeSales, readSale, type GumroadSale } from '../rules/presets/gumroad.ts';
import { RecordProblem, type SourceRecord } from '../rules/read-values.ts';
import { ImportFileError } from './import-file-error.ts';
import type { SourceRow } from './source-row.ts';

/** They are kept in memory until the end of the file, in about 1 KiB each. */
const MAX_SALES = 500_000;

interface KeySales {
  readonly line: number;
  readonly sales: GumroadSale[];
}

/**
 * Merges the sales of each license key; the line of the first one counts. Rows without a license are yielded at once.
 * @throws ImportFileError for too many sales
 */
export async function* mergeGumroadSales(
  rows: AsyncIterable<SourceRow>,
): AsyncGenerator<ForeignRow> {
  const byKey = new Map<string, KeySales>();
  let count = 0;
  for await (const row of rows) {
    const { line } = row;
    const sale = 'problem' in row ? new RecordProblem(row.problem) : tryRead(row.record);
    if (sale instanceof RecordProblem) yield { line, problem: sale.message };
    else if (typeof sale === 'string') yield { line, skipped: sale };
    else if (sale !== null) {
      count += 1;
      if (count > MAX_SALES)
        throw new ImportFileError(`The file has more than ${MAX_SALES} sales.`);
      const known = byKey.get(sale.licenseKey);
      if (known === undefined) byKey.set(sale.licenseKey, { line, sales: [sale] });
      else known.sales.push(sale);
    }
  }
  for (const { line, sales } of byKey.values()) yield { line, license: mergeSales(sales) };
}

function tryRead(record: SourceRecord): ReturnType<typeof readSale> | RecordProblem {
  try {
    return readSale(record);
  } catch (error) {
    if (error instanceof RecordProblem) return error;
    throw error;
  }
}
