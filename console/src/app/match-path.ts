/** The parameters of a path by their names. */
export type PathParams = Readonly<Record<string, string>>;

/** What a page gets from its route. */
export interface RouteProps {
  readonly params: PathParams;
}

/**
 * Matches a path with a pattern such as `/licenses/:id`.
 * @returns the decoded parameters; null if the path does not match
 */
export function matchPath(pattern: string, path: string): PathParams | null {
  const wanted = pattern.split('/');
  const found = path.replace(/(?<=.)\/$/, '').split('/');
  if (wanted.length !== found.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = found[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
      continue;
    }
    const decoded = decode(value);
    if (decoded === null || decoded === '') return null;
    params[part.slice(1)] = decoded;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // A malformed percent-encoding, which no link of the console contains.
    return null;
  }
}
