/** Returns the code of an error of the system, of Node.js or of PostgreSQL, such as ENOENT; undefined without one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether an error has this code. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/**
 * Returns the message of an error. An `AggregateError` without a message, as when every address of a host refuses a
 * connection, has the message of its first error.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** Whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
