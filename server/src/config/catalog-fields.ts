import { findClosestName } from '#server/lib/closest-name.ts';
import type { CatalogPath, CatalogProblem } from './catalog-problems.ts';

/** A mapping of the catalogue that is being read, with its problems. */
export interface Fields {
  readonly values: ReadonlyMap<string, unknown>;
  readonly path: CatalogPath;
  readonly problems: CatalogProblem[];
}

/**
 * Opens a mapping. A field that is not known is a problem: it would be a setting that has no effect.
 * @returns its fields; none when the value is no mapping
 */
export function openFields(
  value: unknown,
  path: CatalogPath,
  known: readonly string[],
  problems: CatalogProblem[],
): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const text = `must be a mapping with the fields ${known.join(', ')}`;
    problems.push({
      path,
      text: path.length > 0 && value === undefined ? `is missing: it ${text}` : text,
    });
    return { values: new Map(), path, problems: [] };
  }
  const values = new Map<string, unknown>(Object.entries(value));
  for (const name of values.keys()) {
    if (!known.includes(name)) {
      problems.push({ path: [...path, name], text: describeUnknown(name, known) });
    }
  }
  return { values, path, problems };
}

function describeUnknown(name: string, known: readonly string[]): string {
  const meant = findClosestName(name, known);
  return meant === undefined
    ? `is not a field here; known are ${known.join(', ')}`
    : `is not a field here: ${meant} was probably meant`;
}

/** The pattern of a text, and its description for error messages. */
export interface TextRule {
  readonly pattern: RegExp;
  readonly must: string;
}

/** Reads a text; without a default it is required. After a problem, the result is an unused placeholder. */
export function readText(fields: Fields, name: string, rule: TextRule, byDefault?: string): string {
  const value = fields.values.get(name) ?? byDefault;
  if (typeof value === 'string' && rule.pattern.test(value)) return value;
  report(fields, name, `must be ${rule.must}`);
  return '';
}

/** Reads a whole number from `min` to `max`; null counts as absent and takes the default. */
export function readInteger<Default extends number | null = never>(
  fields: Fields,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
  byDefault?: Default,
): number | Default {
  const value = fields.values.get(name) ?? byDefault;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  if (value === null && byDefault === null) return byDefault;
  report(fields, name, `must be a whole number from ${min} to ${max}`);
  return min;
}

/** Reads a list of different texts; an absent one is the default. */
export function readTexts(
  fields: Fields,
  name: string,
  rule: TextRule,
  {
    maxItems,
    byDefault = [],
  }: { readonly maxItems: number; readonly byDefault?: readonly string[] },
): readonly string[] {
  const value = fields.values.get(name) ?? byDefault;
  if (!Array.isArray(value) || value.length > maxItems) {
    report(fields, name, `must be a list of at most ${maxItems} texts`);
    return [];
  }
  const texts = new Set<string>();
  for (const [index, item] of value.entries()) {
    const path = [...fields.path, name, index];
    if (typeof item !== 'string' || !rule.pattern.test(item)) {
      fields.problems.push({ path, text: `must be ${rule.must}` });
    } else if (texts.has(item)) {
      fields.problems.push({ path, text: `repeats ${item}` });
    } else texts.add(item);
  }
  return [...texts];
}

function report(fields: Fields, name: string, text: string): void {
  const isMissing = (fields.values.get(name) ?? null) === null;
  const path = [...fields.path, name];
  fields.problems.push({ path, text: isMissing ? `is missing: it ${text}` : text });
}
