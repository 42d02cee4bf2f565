import type * as Yaml from 'yaml';

/** The path of a value: keys and positions in lists. */
export type ConfigPath = readonly (string | number)[];

/** The values of a file and their lines. */
interface YamlSource {
  readonly root: unknown;
  /** Returns the line, from 1, of a field or its nearest parent. */
  readonly findLine: (path: ConfigPath) => number;
  /** The first syntax error or unsupported feature; null for valid YAML. */
  readonly fault: { readonly line: number; readonly text: string } | null;
}

type Library = typeof Yaml;

/** Parses YAML 1.2. The library is loaded on first use, because the running agent does not need it. */
export async function parseYaml(text: string): Promise<YamlSource> {
  const library = await import('yaml');
  const lines = new library.LineCounter();
  const document = library.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const fault = findFault(library, document);
  return {
    root: fault === null ? document.toJS() : undefined,
    findLine: (path) => lineAt(findOffset(library, document, path)),
    fault: fault === null ? null : { line: lineAt(fault.offset), text: fault.text },
  };
}

function findFault(
  { visit }: Library,
  document: Yaml.Document,
): { readonly offset: number; readonly text: string } | null {
  const [error] = document.errors;
  if (error !== undefined) return { offset: error.pos[0], text: explain(error) };
  // A few aliases can expand to gigabytes.
  let offset: number | null = null;
  visit(document, {
    Alias(_key, { range }) {
      offset = range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset === null ? null : { offset, text: NO_ALIAS };
}

const NO_ALIAS = 'a text that begins with * needs quotes around it (aliases are not supported)';

function explain({ code, message }: Yaml.YAMLParseError): string {
  if (code === 'BAD_ALIAS') return NO_ALIAS;
  if (code === 'MULTIPLE_DOCS') return 'a second document (---) is not supported';
  const isQuotable = code === 'UNEXPECTED_TOKEN' || code === 'BAD_SCALAR_START';
  const hint = isQuotable ? '; a text that begins with [ { @ ` or % needs quotes around it' : '';
  return `is not YAML: ${message}${hint}`;
}

function findOffset(
  { isMap, isScalar, isSeq }: Library,
  { contents }: Yaml.Document,
  path: ConfigPath,
): number {
  let node: unknown = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      if (isScalar(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}
