import type { ForeignDevice, ForeignLicense } from '../facts.ts';
import type { Preset, RelatedRecords } from '../rules/presets/preset.ts';
import { RecordProblem } from '../rules/read-values.ts';
import { ImportFileError } from './import-file-error.ts';
import type { SourceRow } from './source-row.ts';

/** They are kept in memory, in about 500 bytes each. */
const MAX_RELATED_RECORDS = 500_000;

/**
 * Reads the related records of a source.
 * @param rows the records of one or several files; licenses among them are ignored
 * @throws ImportFileError for too many of them
 */
export async function readRelated(
  rows: AsyncIterable<SourceRow>,
  { relate }: Preset,
): Promise<RelatedRecords> {
  const devices = new Map<string, ForeignDevice[]>();
  const values = new Map<string, Partial<ForeignLicense>>();
  let count = 0;
  for await (const row of rows) {
    const fact = 'record' in row ? readFact(row.record, relate) : null;
    if (fact === null) continue;
    count += 1;
    if (count > MAX_RELATED_RECORDS) {
      throw new ImportFileError(`The files have more than ${MAX_RELATED_RECORDS} related records.`);
    }
    if (fact.kind === 'values') values.set(fact.owner, fact.values);
    else {
      const known = devices.get(fact.owner);
      if (known === undefined) devices.set(fact.owner, [fact.device]);
      else known.push(fact.device);
    }
  }
  return {
    devicesOf: (owner) => devices.get(owner) ?? [],
    valuesOf: (owner) => values.get(owner) ?? {},
  };
}

/** A related record that cannot be read is as good as none: the license is imported without it. */
function readFact(record: Readonly<Record<string, unknown>>, relate: Preset['relate']) {
  try {
    return relate(record);
  } catch (error) {
    if (error instanceof RecordProblem) return null;
    throw error;
  }
}
