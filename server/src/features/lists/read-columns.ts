import type { CsvCell, CsvColumns } from '#server/lib/csv.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

/**
 * Returns the columns of a CSV file from paths in a list's items: `conversion.license_id` is the column
 * `conversion_license_id`, and `id as license_id` the column `license_id`.
 * @param separator between several values in one cell
 */
export function readColumns(paths: readonly string[], separator = ' '): CsvColumns<object> {
  return Object.fromEntries(
    paths.map((each) => {
      const [path = '', name = path.replaceAll('.', '_')] = each.split(' as ');
      return [name, (item: object) => toCell(readField(item, path), separator)];
    }),
  );
}

function readField(item: unknown, path: string): unknown {
  if (Array.isArray(item)) return item.flatMap((each: unknown) => readField(each, path) ?? []);
  const [name = '', ...rest] = path.split('.');
  const value = isRecord(item) ? item[name] : undefined;
  return rest.length === 0 ? value : readField(value, rest.join('.'));
}

function toCell(value: unknown, separator: string): CsvCell {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (Array.isArray(value)) return value.map((each) => toCell(each, separator)).join(separator);
  return isRecord(value) ? JSON.stringify(value) : null;
}
