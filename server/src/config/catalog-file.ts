import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { isMap, isNode, isSeq, LineCounter, parseDocument, type Document } from 'yaml';

import { isRecord, messageOf } from '#server/lib/unknown-values.ts';

import { CatalogSchema, type CatalogFile } from './catalog-schema.ts';
import { StartupError } from './startup-error.ts';
import { findClosestName } from '#server/lib/closest-name.ts';

/** The path of a field: names and list indexes from the root. */
type CatalogPath = readonly (string | number)[];

export interface CatalogProblem {
  readonly path: CatalogPath;
  /** Continues a sentence that starts with the field, such as "must be a text". */
  readonly text: string;
  /** The position in the file; default: that of the field. */
  readonly offset?: number;
}

/** Aliases save a few lines; more of them are an attack or a mistake. */
const MAX_ALIASES = 100;

const validator = Compile(CatalogSchema);

type SchemaError = ReturnType<typeof validator.Errors>[1][number];

// TypeBox stops after 8 errors by default.
Settings.Set({ maxErrors: 100 });

/**
 * Parses YAML 1.2 and validates it against the schema.
 * @param findProblems finds further problems of a file that fits the schema
 * @throws StartupError with a sentence such as `catalog.yaml:12: products[0].tier must be a text` for each problem, in
 *   the order of the lines
 */
export function parseCatalogFile(
  text: string,
  fileName: string,
  findProblems: (file: CatalogFile) => readonly CatalogProblem[],
): CatalogFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refuse = (problems: readonly CatalogProblem[]): StartupError => {
    const sentences = problems
      .map(({ path, text: what, offset = findOffset(document, path) }) => ({
        line: Math.max(1, lines.linePos(offset).line),
        sentence: `${formatPath(path)} ${what}`.trimStart(),
      }))
      .sort((one, other) => one.line - other.line)
      .map(({ line, sentence }) => `${fileName}:${line}: ${sentence}`);
    return new StartupError([...new Set(sentences)]);
  };

  const { root, problems: syntaxProblems } = readValues(document);
  if (syntaxProblems.length > 0) throw refuse(syntaxProblems);
  if (!validator.Check(root)) throw refuse(findSchemaProblems(root));
  const problems = findProblems(root);
  if (problems.length > 0) throw refuse(problems);
  return root;
}

function readValues(document: Document.Parsed): {
  readonly root: unknown;
  readonly problems: readonly CatalogProblem[];
} {
  const problems = document.errors.map(({ message, pos: [offset] }) => ({
    path: [],
    text: `is not YAML: ${message}`,
    offset,
  }));
  if (problems.length > 0) return { root: undefined, problems };
  try {
    return { root: omitNulls(document.toJS({ maxAliasCount: MAX_ALIASES })), problems };
  } catch (error) {
    const text = `cannot be read: ${messageOf(error)}`;
    return { root: undefined, problems: [{ path: [], text }] };
  }
}

/** A field without a value counts as missing. */
function omitNulls(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map(omitNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, omitNulls(each)]));
}

function findSchemaProblems(root: unknown): CatalogProblem[] {
  const [, errors] = validator.Errors(root);
  return errors.flatMap((error) => explainSchemaError(error, root));
}

function explainSchemaError(error: SchemaError, root: unknown): CatalogProblem[] {
  const path = error.instancePath.split('/').slice(1);
  const schema = lookUp(CatalogSchema, error.schemaPath.split('/').slice(1));
  // An unknown field, which is also an error of `additionalProperties`.
  if (error.keyword === 'boolean') return [];
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys(Object(lookUp(schema, ['properties'])));
    return error.params.additionalProperties.map((name) => ({
      path: [...path, name],
      text: describeUnknown(name, known),
    }));
  }
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => ({
      path: [...path, name],
      text: `is missing: it ${describeRule(lookUp(schema, ['properties', name]))}`,
    }));
  }
  if (error.keyword === 'uniqueItems') {
    return error.params.duplicateItems.map((index) => ({
      path: [...path, index],
      text: `repeats ${String(lookUp(root, [...path, index]))}`,
    }));
  }
  const isMissing = path.length > 0 && lookUp(root, path) === undefined;
  const rule = describeRule(schema);
  return [{ path, text: isMissing ? `is missing: it ${rule}` : rule }];
}

function describeRule(schema: unknown): string {
  return `must be ${String(lookUp(schema, ['description']))}`;
}

function describeUnknown(name: string, known: readonly string[]): string {
  const closest = findClosestName(name, known);
  return closest === undefined
    ? `is not a field here; known are ${known.join(', ')}`
    : `is not a field here: ${closest} was probably meant`;
}

function lookUp(root: unknown, path: CatalogPath): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    root,
  );
}

/** Returns the position of a field, or of the closest one above it. */
function findOffset({ contents }: Document.Parsed, path: CatalogPath): number {
  let node: unknown = contents;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined;
    const item = isSeq(node) ? node.items[Number(step)] : undefined;
    offset = startOf(pair?.key ?? item) ?? offset;
    node = pair?.value ?? item;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function formatPath(path: CatalogPath): string {
  return path
    .map((step) => (/^\d+$/u.test(String(step)) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./u, '');
}
