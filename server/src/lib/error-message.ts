/**
 * Returns the message of an error. An `AggregateError` without a message, as when every address of a host refuses a
 * connection, has the message of its first error.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
