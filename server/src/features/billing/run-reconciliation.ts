import type { BillingDependencies } from './dependencies.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { reconcileGumroad } from './reconcile-gumroad.ts';
import { reconcilePaddle, type Reconciliation, type ReconciliationOptions } from './reconcile.ts';

/** The result of a comparison that an operator started. */
export interface RequestedReconciliation extends Reconciliation {
  /** Why nothing was compared, or why the comparison ended early: a sentence for people. */
  readonly failure: string | null;
}

const NOTHING = { compared: 0, repaired: [], reachedEnd: false } as const;

/** What a provider can be compared with. */
interface Source {
  readonly name: string;
  /** What is read, in a sentence. */
  readonly log: string;
  readonly reconcile: typeof reconcilePaddle;
}

const PADDLE: Source = { name: 'Paddle', log: "Paddle's event log", reconcile: reconcilePaddle };

const GUMROAD: Source = {
  name: 'Gumroad',
  log: "Gumroad's list of sales",
  reconcile: reconcileGumroad,
};

/**
 * Compares Paddle's event log and Gumroad's list of sales, as far as they can be read, with the received events, and explains what
 * prevents that.
 */
export async function runReconciliation(
  deps: BillingDependencies,
  options: ReconciliationOptions,
): Promise<RequestedReconciliation> {
  const sources = [
    ...(deps.paddleApi === null ? [] : [PADDLE]),
    ...(deps.gumroadApi === null ? [] : [GUMROAD]),
  ];
  if (sources.length === 0) {
    const failure =
      "Reading Paddle's event log needs an API key: set LATCHKEY_PADDLE_API_KEY; Gumroad's list of sales needs LATCHKEY_GUMROAD_ACCESS_TOKEN.";
    return { ...NOTHING, failure };
  }
  const results: RequestedReconciliation[] = [];
  for (const source of sources) {
    const before = results.reduce((sum, { compared }) => sum + compared, 0);
    const onCompared = (count: number): void => options.onCompared?.(before + count);
    results.push(await runSource(deps, source, { ...options, onCompared }));
  }
  const failures = results.flatMap(({ failure }) => failure ?? []);
  return {
    compared: results.reduce((sum, { compared }) => sum + compared, 0),
    repaired: results.flatMap(({ repaired }) => repaired),
    reachedEnd: results.every(({ reachedEnd }) => reachedEnd),
    failure: failures.length === 0 ? null : failures.join(' '),
  };
}

async function runSource(
  deps: BillingDependencies,
  { name, log, reconcile }: Source,
  options: ReconciliationOptions,
): Promise<RequestedReconciliation> {
  let compared = 0;
  const onCompared = (count: number): void => {
    compared = count;
    options.onCompared?.(count);
  };
  try {
    const found = await reconcile(deps, { ...options, onCompared });
    if (found !== null) return { ...found, failure: null };
    const failure = `No ${name} event has been received yet: choose since when to compare (on the command line with --since).`;
    return { ...NOTHING, failure };
  } catch (error) {
    if (!(error instanceof ProviderApiError)) throw error;
    const failure = `Cannot read ${log}: ${error.message}. Events that were applied stay applied.`;
    return { ...NOTHING, compared, failure };
  }
}
