import type { ForeignRow } from '../facts.ts';
import { assignColumns, createCsvPreset, findColumnProblem } from '../rules/presets/csv.ts';
import { cryptlex } from '../rules/presets/cryptlex.ts';
import { edd } from '../rules/presets/edd.ts';
import { GUMROAD_COLUMNS } from '../rules/presets/gumroad.ts';
import { keygen } from '../rules/presets/keygen.ts';
import { lemonSqueezy } from '../rules/presets/lemon-squeezy.ts';
import { paddleClassic } from '../rules/presets/paddle-classic.ts';
import { relatesNothing, type Preset } from '../rules/presets/preset.ts';
import { wooCommerce } from '../rules/presets/woocommerce.ts';
import { RecordProblem } from '../rules/read-values.ts';
import { decodeText } from './decode-text.ts';
import { ImportFileError } from './import-file-error.ts';
import { mergeGumroadSales } from './merge-gumroad-sales.ts';
import { readJson } from './read-json.ts';
import { readRelated } from './related-records.ts';
import { readTable } from './read-table.ts';
import type { SourceRow } from './source-row.ts';

/** The systems whose files are read. */
export const FILE_SOURCES = [
  'keygen',
  'cryptlex',
  'lemonsqueezy',
  'gumroad',
  'paddle-classic',
  'edd',
  'woocommerce',
  'csv',
] as const;

export type FileSource = (typeof FILE_SOURCES)[number];

/** Opens a file; each call reads it from its beginning. */
export type OpenFile = () => AsyncIterable<Uint8Array>;

/** The files of a source. */
export interface SourceFiles {
  readonly source: FileSource;
  /** The licenses. */
  readonly file: OpenFile;
  /** Their devices, customers and orders, in further files of the same source. */
  readonly related: readonly OpenFile[];
  /** Columns of `csv` by field, such as `["email", "Mail"]`. */
  readonly columns: readonly (readonly [field: string, column: string])[];
}

const PRESETS = {
  keygen,
  cryptlex,
  lemonsqueezy: lemonSqueezy,
  'paddle-classic': paddleClassic,
  edd,
  woocommerce: wooCommerce,
} as const;

/** Whether the file of a source is read once; the others are read for their related records first. */
export function isReadOnce(source: FileSource): boolean {
  if (source === 'gumroad' || source === 'csv') return true;
  return PRESETS[source].relate === relatesNothing;
}

/**
 * Reads the licenses of a file as a stream: a table or JSON, whatever its content is.
 * @throws ImportFileError for a file that cannot be read
 */
export async function* readFile(files: SourceFiles): AsyncGenerator<ForeignRow> {
  if (files.columns.length > 0 && files.source !== 'csv') {
    throw new ImportFileError(
      'Columns are named only for the source csv; the others have their own.',
    );
  }
  if (files.source === 'gumroad') {
    const rows = readRows(files.file, (columns) => findMissing(columns, GUMROAD_COLUMNS));
    yield* mergeGumroadSales(rows);
    return;
  }
  const { preset, findProblem } = openPreset(files);
  const related = await readRelated(readAll(files, preset), preset);
  for await (const row of readRows(files.file, findProblem)) {
    const converted =
      'problem' in row ? row : convert(row.line, () => preset.read(row.record, related));
    if (converted !== null) yield converted;
  }
}

type FindProblem = (columns: readonly string[]) => string | null;

function openPreset(files: SourceFiles): { preset: Preset; findProblem: FindProblem } {
  if (files.source === 'csv') return openCsv(files.columns);
  if (files.source === 'gumroad') throw new Error('sales of Gumroad are merged');
  const preset = PRESETS[files.source];
  return { preset, findProblem: (columns) => findMissing(columns, preset.columns) };
}

function openCsv(pairs: SourceFiles['columns']): { preset: Preset; findProblem: FindProblem } {
  const columns = assignColumns(pairs);
  if ('problem' in columns) throw new ImportFileError(columns.problem);
  const isAssigned = pairs.length > 0;
  return {
    preset: createCsvPreset(columns),
    findProblem: (header) => findColumnProblem(header, columns, isAssigned),
  };
}

function findMissing(
  columns: readonly string[],
  required: readonly string[] | null,
): string | null {
  if (required === null) return 'The file must be JSON, as the interface of the system returns it.';
  const missing = required.find((column) => !columns.includes(column));
  return missing === undefined ? null : `The column ${JSON.stringify(missing)} is missing.`;
}

/** Reads the related files, and the file itself, which may include related records. */
async function* readAll({ file, related }: SourceFiles, preset: Preset): AsyncGenerator<SourceRow> {
  if (preset.relate === relatesNothing) return;
  for (const open of related) yield* readRows(open, () => null);
  yield* readRows(file, () => null);
}

/** Reads the records of a file that begins with a bracket as JSON, and any other as a table. */
async function* readRows(open: OpenFile, findProblem: FindProblem): AsyncGenerator<SourceRow> {
  const text = decodeText(open());
  let start = '';
  while (start.trim() === '') {
    const next = await text.next();
    if (next.done === true) break;
    start += next.value;
  }
  async function* whole(): AsyncGenerator<string> {
    yield start;
    yield* text;
  }
  const isJson = /^[[{]/u.test(start.trimStart());
  yield* isJson ? readJson(whole()) : readTable(whole(), findProblem);
}

/** Converts a record; returns null for one that is no license. */
function convert(line: number, read: () => ReturnType<Preset['read']>): ForeignRow | null {
  try {
    const result = read();
    return result === null ? null : { line, ...result };
  } catch (error) {
    if (error instanceof RecordProblem) return { line, problem: error.message };
    throw error;
  }
}
