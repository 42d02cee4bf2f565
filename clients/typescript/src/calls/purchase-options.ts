/** How long a program waits for a license. */
export interface PurchaseOptions {
  /** Ends the wait, with `aborted`. */
  readonly signal?: AbortSignal;
  /** Default: ten minutes. */
  readonly timeoutMs?: number;
}
