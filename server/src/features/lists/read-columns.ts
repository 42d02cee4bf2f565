import type { CsvCell, CsvColumns } from '#server/lib/csv.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

/**
 * Returns the columns of a CSV file from paths in a list's items: `conversion.license_id` is the column
 * `conversion_license_id`, and `id as license_id` the column `license_id`.
 */
export function readColumns(paths: readonly string[]): CsvColumns<object> {
  return Object.fromEntries(
    paths.map((each) => {
      const [path = '', name = path.replaceAll('.', '_')] = each.split(' as ');
      return [name, (item: object) => readCell(item, path)];
    }),
  );
}

function readCell(item: unknown, path: string): CsvCell {
  if (Array.isArray(item)) return toCell(item.flatMap((each) => readCell(each, path) ?? []));
  const [name = '', ...rest] = path.split('.');
  const value = isRecord(item) ? item[name] : undefined;
  return rest.length === 0 ? toCell(value) : readCell(value, rest.join('.'));
}

function toCell(value: unknown): CsvCell {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (Array.isArray(value)) return value.join(' ');
  return isRecord(value) ? JSON.stringify(value) : null;
}
