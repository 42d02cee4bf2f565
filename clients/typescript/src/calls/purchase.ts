import { isNoAnswer, refuse, type Result } from '../answers/results.ts';
import { readPurchase } from '../answers/shapes.ts';
import { purchaseWaitMs, waitFor } from '../checks/wait.ts';
import type { Session } from '../session.ts';
import { activate } from './activate.ts';
import { reportFailure } from './report-failure.ts';
import type { PurchaseOptions } from './purchase-options.ts';
import { reportNoAnswer, unexpectedShape } from './outcome.ts';
import { LICENSES } from './service.ts';

const DEFAULT_TIMEOUT_MS = 600_000;

/** Calls `ask` until a purchase has its license or is refused; the payment may be confirmed while the network is away. */
export async function pollPurchase(
  ask: () => Promise<Result>,
  now: () => number,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: PurchaseOptions,
): Promise<Result> {
  const startedMs = now();
  for (let asked = 0; ; asked += 1) {
    if (signal?.aborted === true) return refuse('aborted');
    const result = await ask();
    const isOpen = isNoAnswer(result) || (!result.ok && result.code === 'purchase_pending');
    if (!isOpen) return result;
    if (Math.abs(now() - startedMs) >= timeoutMs) return refuse('purchase_pending');
    await waitFor(purchaseWaitMs(asked), signal);
  }
}

/** Activates the license of a purchase; `purchase_pending` while there is none. */
export async function activatePurchase(session: Session, transactionId: string): Promise<Result> {
  const answer = await session.parts.service.get(
    `${LICENSES}/check/${encodeURIComponent(transactionId)}`,
  );
  if (answer.kind !== 'success') return reportFailure(session, answer);
  const purchase = readPurchase(answer.body);
  if (purchase === null) return reportNoAnswer(session, unexpectedShape());
  session.noteAnswer(true);
  const { licenseKey, status } = purchase;
  if (licenseKey !== null) return activate(session, licenseKey);
  return refuse(status === 'pending' ? 'purchase_pending' : 'key_not_shown');
}
