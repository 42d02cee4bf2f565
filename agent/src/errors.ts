/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of Node.js, such as `ENOENT`; an empty string without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Explanations of system errors, by their codes. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space and run this again'],
  ['EDQUOT', 'The disk is full for this user: free some space and run this again'],
  ['EROFS', 'The file system is read-only: make it writable and run this again'],
  ['EPERM', 'The system does not allow it, perhaps by an attribute of the file (lsattr)'],
]);

/** Returns why something failed, as a sentence for the administrator who can fix it. */
export function explainFailure(error: unknown): string {
  const meaning = MEANINGS.get(codeOf(error));
  return meaning === undefined ? messageOf(error) : `${meaning} (${messageOf(error)}).`;
}
