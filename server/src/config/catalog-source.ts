import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml';
import { messageOf } from '#server/lib/error-message.ts';
import type { CatalogPath, CatalogProblem } from './catalog-problems.ts';

/** A catalogue's text as values, with the lines that they stand on. */
export interface CatalogSource {
  /** The parsed value; undefined when the text is no YAML. */
  readonly root: unknown;
  /** The line, from 1, of a field or of what is nearest above it. */
  readonly findLine: (path: CatalogPath) => number;
}

/** Aliases save a few lines; more of them than this are an attack or a mistake. */
const MAX_ALIASES = 100;

/** Parses YAML 1.2 and adds problems. */
export function openCatalogSource(text: string, problems: CatalogProblem[]): CatalogSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const findLine = (path: CatalogPath): number =>
    Math.max(1, lines.linePos(findOffset(document.contents, path)).line);
  for (const { message, pos } of document.errors) {
    const line = Math.max(1, lines.linePos(pos[0]).line);
    problems.push({ path: [], text: `is not YAML: ${message}`, line });
  }
  if (document.errors.length > 0) return { root: undefined, findLine };
  try {
    const root: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { root, findLine };
  } catch (error) {
    problems.push({ path: [], text: `cannot be read: ${messageOf(error)}` });
    return { root: undefined, findLine };
  }
}

/** Follows a path through the nodes as far as it goes. */
function findOffset(root: Node | null, path: CatalogPath): number {
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
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  if (isMap(node) || isSeq(node) || isScalar(node)) return node.range?.[0];
  return undefined;
}
