/** Something that went wrong and that the client went on without. */
export interface ClientProblem {
  /**
   * `file_damaged`, `folder_unreadable`, `folder_unwritable`, `machine_unreadable`, `cryptography`, `events_unwritable`, `events_rejected`,
   * `listener`, or `unexpected`.
   */
  readonly code: string;
  /** A sentence for a log. It contains no key. */
  readonly message: string;
}

/** Receives problems. */
export type ReportProblem = (problem: ClientProblem) => void;
