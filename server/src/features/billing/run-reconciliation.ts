import type { BillingDependencies } from './dependencies.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { reconcilePaddle, type Reconciliation, type ReconciliationOptions } from './reconcile.ts';

/** The result of a comparison that an operator started. */
export interface RequestedReconciliation extends Reconciliation {
  /** Why nothing was compared, or why the comparison ended early: a sentence for people. */
  readonly failure: string | null;
}

const NOTHING = { compared: 0, repaired: [], reachedEnd: false } as const;

/** Compares Paddle's event log with the received events, and explains what prevents that. */
export async function runReconciliation(
  deps: BillingDependencies,
  options: ReconciliationOptions,
): Promise<RequestedReconciliation> {
  if (deps.paddleApi === null) {
    const failure = "Reading Paddle's event log needs an API key: set LATCHKEY_PADDLE_API_KEY.";
    return { ...NOTHING, failure };
  }
  let compared = 0;
  const onCompared = (count: number): void => {
    compared = count;
    options.onCompared?.(count);
  };
  try {
    const found = await reconcilePaddle(deps, { ...options, onCompared });
    if (found !== null) return { ...found, failure: null };
    const failure =
      'No Paddle event has been received yet: choose since when to compare (on the command line with --since).';
    return { ...NOTHING, failure };
  } catch (error) {
    if (!(error instanceof ProviderApiError)) throw error;
    const failure = `Cannot read Paddle's event log: ${error.message}. Events that were applied stay applied.`;
    return { ...NOTHING, compared, failure };
  }
}
