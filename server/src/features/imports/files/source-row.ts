/** A record of a file, or why it cannot be read. */
export type SourceRow = {
  /** The line of the file, or the number of the record in a JSON array; counted from 1. */
  readonly line: number;
} & ({ readonly record: Readonly<Record<string, unknown>> } | { readonly problem: string });
