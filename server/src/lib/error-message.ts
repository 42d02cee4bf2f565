/**
 * What an error says, for people. One that stands for several and says nothing itself, as when every address of a host
 * refuses a connection, says what the first of them says.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
