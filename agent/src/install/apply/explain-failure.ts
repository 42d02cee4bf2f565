/** What an error of the system means here, by its name. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space and run this again'],
  ['EDQUOT', 'The disk is full for this user: free some space and run this again'],
  ['EROFS', 'The disk can only be read: make it writable and run this again'],
  ['EPERM', 'The system does not allow it, perhaps by an attribute of the file (lsattr)'],
]);

/** Why something could not be done, as a sentence. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const meaning = MEANINGS.get(code);
  return meaning === undefined ? error.message : `${meaning} (${error.message}).`;
}
