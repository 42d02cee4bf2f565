import { refuse, type Failure, type Result } from '../answers/results.ts';
import { readPurchase } from '../answers/shapes.ts';
import type { Session } from '../session.ts';
import { activate } from './activate.ts';
import { endWithout } from './end-without.ts';
import { endInSilence, otherShape } from './outcome.ts';

/** Activates the license of a purchase, or says that it is not there yet. */
export async function activatePurchase(session: Session, transactionId: string): Promise<Result> {
  const purchase = await askForPurchase(session, transactionId);
  if (purchase.kind === 'failed') return purchase.failure;
  return purchase.kind === 'key' ? activate(session, purchase.key) : refuse('purchase_pending');
}

/** What is known of a purchase: its key, that it is not there yet, or why it will not come. */
type PurchaseStatus =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'pending' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Asks for the key of a purchase. */
async function askForPurchase(session: Session, transactionId: string): Promise<PurchaseStatus> {
  const answer = await session.parts.service.checkTransaction(transactionId);
  if (answer.kind === 'problem') {
    return { kind: 'failed', failure: endWithout(session, answer) };
  }
  const purchase = answer.kind === 'success' ? readPurchase(answer.body) : null;
  if (purchase === null) {
    endInSilence(session, answer.kind === 'silence' ? answer : otherShape());
    // The payment may come while the network is away.
    return { kind: 'pending' };
  }
  session.noteAnswer(true);
  if (purchase.licenseKey !== null) return { kind: 'key', key: purchase.licenseKey };
  return purchase.status === 'pending'
    ? { kind: 'pending' }
    : { kind: 'failed', failure: refuse('key_not_shown') };
}
