/** Where something stands in the catalogue: keys and list positions from the top. */
export type CatalogPath = readonly (string | number)[];

/** Something wrong in the catalogue. */
export interface CatalogProblem {
  readonly path: CatalogPath;
  /** The rest of a sentence that begins with the field's name, such as "must be a text". */
  readonly text: string;
  /** Where it stands when the field itself does not say, counted from 1. */
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
