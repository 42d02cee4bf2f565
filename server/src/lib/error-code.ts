/** The code that an error of the system, of Node.js or of PostgreSQL carries, such as ENOENT; undefined without one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether an error carries this code. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}
