/** Changes of query parameters; null and '' remove one. */
export type QueryChanges = Readonly<Record<string, string | null>>;

/** Returns the query with the changes: '' or text that begins with `?`. The order of parameters stays. */
export function withQuery(query: URLSearchParams, changes: QueryChanges): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}

/** Adds parameters to a path of the interface; those that are null or '' are left out. */
export function addQuery(path: string, parameters: QueryChanges): string {
  const [base = '', search = ''] = path.split('?', 2);
  return base + withQuery(new URLSearchParams(search), parameters);
}

/** Whether a path stays in the console, so that a link to the sign-in page cannot lead to another site. */
export function isSafeReturnPath(path: string): boolean {
  return (
    /^\/(?![/\\])[^\\\s]*$/.test(path) && !/^\/(?:sign-in|welcome|back-from-provider)\b/.test(path)
  );
}
