/** The path of a field of the catalogue: keys and list indexes from the root. */
export type CatalogPath = readonly (string | number)[];

/** A problem in the catalogue. */
export interface CatalogProblem {
  readonly path: CatalogPath;
  /** The rest of a sentence that begins with the field's name, such as "must be a text". */
  readonly text: string;
  /** The line, from 1, when it is not the field's own. */
  readonly line?: number;
}

/** One sentence such as `catalog.yaml:12: products[0].tier must be a text`. */
export function describeProblem(path: CatalogPath, text: string, place: string): string {
  const field = formatPath(path);
  return `${place}: ${field === '' ? text : `${field} ${text}`}`;
}

function formatPath(path: CatalogPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./u, '');
}
