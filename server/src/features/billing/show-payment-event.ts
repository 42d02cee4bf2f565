import type { PaymentEvent, PaymentPayload, Reported } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { notFound } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import { listLicenseUpdates } from '../licenses/queries/license-updates.ts';
import { listLicensesByIds } from '../licenses/queries/licenses.ts';
import { licenseStatus } from '../licenses/rules/status.ts';
import type { BillingDependencies } from './dependencies.ts';
import { MAX_ATTEMPTS } from './failed-events.ts';
import type { BillingFact } from './facts.ts';
import { reportEvent, toPaymentEventItem } from './list-payment-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import { findSourceAdapter } from './providers/adapters.ts';
import { listEventFacts } from './queries/event-facts.ts';
import { findEvent, type StoredEventRecord } from './queries/event-list.ts';
import { listFacts } from './queries/operator-events.ts';
import { listBilledLines, listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import { describeFact } from './rules/describe-fact.ts';
import { explainEvent } from './rules/explain-event.ts';
import { listIds } from './rules/list-ids.ts';

interface ShowDependencies extends Pick<BillingDependencies, 'catalog'> {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** The key of an event. */
export interface PaymentEventKey {
  readonly provider: string;
  readonly event_id: string;
}

/** Shows one event: what happened, what it reports, and the licenses that its purchase created or renewed. @throws notFound (404) */
export async function showPaymentEvent(
  deps: ShowDependencies,
  key: PaymentEventKey,
): Promise<PaymentEvent> {
  const event = await requireEvent(deps, key);
  const facts = await readFacts(deps, event);
  const references =
    facts.length > 0 ? toReferences(event.provider, facts) : guessReferences(event);
  const licenses = await listLicenses(deps, event.provider, references);
  const { raw, rawRemovedAt } = event;
  const hasBody = raw !== null;
  const hasLicense = licenses.length > 0;
  return {
    ...toPaymentEventItem({ ...event, reported: await readReported(deps, event, facts) }),
    ...explainEvent({ ...event, hasBody, hasLicense }, MAX_ATTEMPTS),
    has_payload: hasBody,
    payload_removed_at: rawRemovedAt?.toISOString() ?? null,
    effects: facts.map(describeFact),
    licenses,
  };
}

/** Finds one event. @throws notFound (404) */
export async function requireEvent(
  { pool }: { readonly pool: Pool },
  { provider, event_id: eventId }: PaymentEventKey,
): Promise<StoredEventRecord> {
  const event = await findEvent(pool, provider, eventId);
  if (event === null) throw notFound();
  return event;
}

/** Reads the facts from the ledgers, or from the body of an event that was not applied. */
export async function readFacts(
  { pool }: { readonly pool: Pool },
  { provider, eventId, raw, headers }: StoredEventRecord,
): Promise<readonly BillingFact[]> {
  const stored = await listFacts(pool, provider, eventId);
  const adapter = findSourceAdapter(provider);
  if (stored.length > 0 || raw === null || adapter === undefined) return stored;
  try {
    const body: unknown = JSON.parse(raw.toString());
    return adapter.normalize(body, { headers, rawBody: raw }).facts;
  } catch (error) {
    // What cannot be read has no facts; the message of the event says why.
    if (error instanceof MalformedEventError || error instanceof SyntaxError) return [];
    throw error;
  }
}

/** @param facts of the ledgers, or of the body if the event is not applied */
async function readReported(
  { pool, catalog }: ShowDependencies,
  event: StoredEventRecord,
  [fact]: readonly BillingFact[],
): Promise<Reported> {
  const [stored] = await listEventFacts(pool, [event]);
  const ofBody = fact && { fact, payment: null, email: null, name: null, sold: [] };
  return reportEvent(event, stored ?? ofBody, catalog());
}

const MAX_LICENSES = 20;

async function listLicenses(
  { pool, clock }: ShowDependencies,
  provider: string,
  references: readonly LedgerReference[],
): Promise<PaymentEvent['licenses']> {
  const entries = await listPurchaseEntries(pool, references);
  const transactionIds = new Set(
    entries.flatMap(({ fact }) =>
      fact.kind === 'payment'
        ? [fact.transactionId, ...(fact.aliases ?? [])]
        : [fact.transactionId],
    ),
  );
  const transactions = [...transactionIds].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider, transactionId }],
  );
  const lines = await listBilledLines(pool, transactions);
  const updates = await listLicenseUpdates(pool, [], transactions);
  const all = [...lines, ...updates].map(({ licenseId }) => licenseId);
  const ids = [...new Set(all)].slice(0, MAX_LICENSES);
  const now = clock.now();
  const found = await listLicensesByIds(pool, ids);
  return found
    .toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    .map((license) => ({
      license_id: license.id,
      key_hint: license.keyHint,
      product: license.productId,
      status: licenseStatus(license, now),
      customer_email: license.customerEmail,
    }));
}

/** A customer may have any number of purchases: an event about one belongs to none of them. */
export function toReferences(provider: string, facts: readonly BillingFact[]): LedgerReference[] {
  return facts.flatMap((fact): LedgerReference[] => {
    if (fact.kind === 'customer') return [];
    if (fact.kind === 'subscription') {
      return [{ provider, kind: 'subscription', id: fact.subscriptionId }];
    }
    const { transactionId: id } = fact;
    const subscriptionId = fact.kind === 'payment' ? fact.subscriptionId : null;
    return [
      { provider, kind: 'transaction', id },
      ...(subscriptionId === null
        ? []
        : [{ provider, kind: 'subscription', id: subscriptionId } as const]),
    ];
  });
}

/** A failed event names its transaction or subscription, even if the rest of it cannot be read. */
function guessReferences({ provider, raw, status }: StoredEventRecord): LedgerReference[] {
  if (raw === null || status === 'ignored') return [];
  return listIds(parseJson(raw.toString())).flatMap((id): LedgerReference[] => [
    { provider, kind: 'transaction', id },
    { provider, kind: 'subscription', id },
  ]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: it names nothing.
    return null;
  }
}

/** Reveals the body of an event, which contains personal data, after an audit entry. @throws notFound (404) */
export async function revealPayload(
  deps: ShowDependencies,
  key: PaymentEventKey,
  actor: string,
): Promise<PaymentPayload> {
  const { raw, headers, eventId, provider } = await requireEvent(deps, key);
  if (raw === null) throw notFound();
  await recordAccess(deps, {
    actor,
    action: 'webhook.reveal',
    subjectId: eventId,
    reason: null,
    details: { provider },
  });
  return { payload: formatBody(raw.toString()), headers };
}

function formatBody(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: shown as it was sent.
    return text;
  }
}
