import { type ImportRules, parseImportRecord } from './import-record.ts';
import type { SourceRecord } from './import-file.ts';
import type { ImportedLicense, ImportOutcome } from './import.ts';

/** Licenses in one transaction. */
const BATCH_ROWS = 200;

/** Problems that are kept; further ones are only counted. */
const MAX_SHOWN_PROBLEMS = 100;

export interface ImportProblem {
  readonly line: number;
  /** A sentence without the key. */
  readonly problem: string;
}

/** The result of an import. */
export interface ImportTally {
  readonly created: number;
  readonly present: number;
  readonly failed: number;
  readonly problems: readonly ImportProblem[];
}

/** Called while an import runs. */
export interface ImportObserver {
  readonly onProgress?: (done: number) => void;
  readonly onProblem?: (problem: ImportProblem) => void;
}

/**
 * Imports all records, in batches; a record that cannot be imported does not stop the others.
 * @param apply stores or only checks a batch, and returns an outcome for each license
 */
export async function importAll(
  records: AsyncIterable<SourceRecord>,
  rules: ImportRules,
  apply: (batch: readonly ImportedLicense[]) => Promise<readonly ImportOutcome[]>,
  { onProgress, onProblem }: ImportObserver = {},
): Promise<ImportTally> {
  const problems: ImportProblem[] = [];
  const counts = { created: 0, present: 0, failed: 0 };
  const addProblem = (line: number, problem: string): void => {
    counts.failed += 1;
    if (counts.failed > MAX_SHOWN_PROBLEMS) return;
    problems.push({ line, problem });
    onProblem?.({ line, problem });
  };
  let batch: (ImportedLicense & { readonly line: number })[] = [];
  const flush = async (): Promise<void> => {
    for (const [index, outcome] of (await apply(batch)).entries()) {
      if (outcome === 'weak') addProblem(batch[index]?.line ?? 0, WEAK_KEY);
      else counts[outcome] += 1;
    }
    batch = [];
    onProgress?.(counts.created + counts.present + counts.failed);
  };
  for await (const { line, record } of records) {
    const parsed = record === null ? INVALID_RECORD : parseImportRecord(record, rules);
    if ('problem' in parsed) addProblem(line, parsed.problem);
    else batch.push({ ...parsed.license, line });
    if (batch.length === BATCH_ROWS) await flush();
  }
  await flush();
  return { ...counts, problems };
}

const WEAK_KEY =
  'The license_key can be guessed: import it with --allow-weak-keys, or issue a new key.';

const INVALID_RECORD = { problem: 'The record does not have the columns of the header.' };
