import type { Node } from 'yaml';

/** Where something stands: keys and list positions from the top. */
export type ConfigPath = readonly (string | number)[];

/** The values of a file, with the lines that they stand on. */
export interface YamlSource {
  readonly root: unknown;
  /** The line, from 1, of a field or of what is nearest above it. */
  readonly findLine: (path: ConfigPath) => number;
  /** What is no YAML: sentences, each with its line. */
  readonly faults: readonly { readonly line: number; readonly text: string }[];
}

/** Parses YAML 1.2. The library is loaded here and not before: most of the time the agent needs none of it. */
export async function parseYaml(text: string): Promise<YamlSource> {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);

  function findOffset(root: Node | null, path: ConfigPath): number {
    let node: unknown = root;
    let offset = root?.range?.[0] ?? 0;
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

  const faults = document.errors.map(({ message, pos }) => ({
    line: lineAt(pos[0]),
    text: `is not YAML: ${message}`,
  }));
  const source = {
    faults,
    findLine: (path: ConfigPath) => lineAt(findOffset(document.contents, path)),
  };
  if (faults.length > 0) return { ...source, root: undefined };
  try {
    // Aliases save nothing in a file so short, and a few of them can stand for gigabytes.
    const root: unknown = document.toJS({ maxAliasCount: 0 });
    return { ...source, root };
  } catch {
    // The only thing that can go wrong with a document without faults.
    return {
      ...source,
      root: undefined,
      faults: [{ line: 1, text: 'has aliases, which are not taken' }],
    };
  }
}
