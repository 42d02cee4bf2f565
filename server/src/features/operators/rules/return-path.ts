/** The place of a path for its parts. */
const ANY_ORIGIN = 'https://host.invalid';

/**
 * Returns whether a path, with its query, is a page of the console that a redirect may lead to: `/console` or below. It must be
 * written as a browser reads it, so that no other spelling (`//`, a backslash, `..`, a control character) leads elsewhere.
 */
export function isConsolePath(path: string): boolean {
  if (/\/\/|[\\#]/.test(path) || !URL.canParse(path, ANY_ORIGIN)) return false;
  const { origin, pathname, search } = new URL(path, ANY_ORIGIN);
  if (origin !== ANY_ORIGIN || pathname + search !== path) return false;
  return pathname === '/console' || pathname.startsWith('/console/');
}

/** Returns the path with a problem in its query, which the page shows. */
export function addProblem(path: string, problem: string): string {
  const url = new URL(path, ANY_ORIGIN);
  url.searchParams.set('problem', problem);
  return url.pathname + url.search;
}
