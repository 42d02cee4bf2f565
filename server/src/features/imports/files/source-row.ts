/** A record of a file, or why it cannot be read. */
export type SourceRow = {
  /** Counted from 1. */
  readonly line: number;
} & ({ readonly record: Readonly<Record<string, unknown>> } | { readonly problem: string });
