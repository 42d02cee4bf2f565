import type { SearchHit, SearchKind } from '@latchkey/contract';

import type { StoredEventRecord } from '../analytics/queries/stored-events.ts';
import { licenseStatus } from '../licenses/rules/status.ts';
import type { FoundActivation, FoundMachine } from './queries/activations.ts';
import type { FoundAddress } from './queries/addresses.ts';
import type { FoundMessage } from './queries/messages.ts';
import type { FoundLicense } from './queries/licenses.ts';
import type { FoundPayment } from './queries/payments.ts';

/** The end of a key after the dots that stand for the rest. */
const maskKey = (hint: string): string => `…${hint}`;

/** @param productName by the id of a product */
export function describeLicense(
  license: FoundLicense,
  productName: (id: string) => string,
  now: Date,
): SearchHit {
  const { id, customerEmail, customerName, createdAt, keyHint, productId } = license;
  return {
    kind: 'license',
    id,
    title: `${productName(productId)} ${maskKey(keyHint)}`,
    detail: customerEmail ?? customerName ?? (license.trial ? 'trial' : null),
    status: licenseStatus(license, now),
    at: createdAt.toISOString(),
    path: `/licenses/${id}`,
  };
}

const SOURCE_NAMES = { licenses: 'licenses', payments: 'payments', subscribers: 'newsletter' };

/** Describes the customers of addresses: one for each address, with all places where it is stored. */
export function describeCustomers(addresses: readonly FoundAddress[]): SearchHit[] {
  const byAddress = Map.groupBy(addresses, ({ address }) => address);
  return Array.from(byAddress, ([address, found]) => ({
    kind: 'customer',
    id: address,
    title: address,
    detail: found.map(({ source }) => SOURCE_NAMES[source]).join(', '),
    status: null,
    at: null,
    path: `/customer?${new URLSearchParams({ email: address }).toString()}`,
  }));
}

export function describeActivation(activation: FoundActivation): SearchHit {
  const { id, isActive, lastValidatedAt, licenseId, machine } = activation;
  return {
    kind: 'activation',
    id,
    title: id,
    detail: machine,
    status: isActive ? 'active' : 'deactivated',
    at: lastValidatedAt.toISOString(),
    path: `/licenses/${licenseId}`,
  };
}

const countActivations = (count: number): string =>
  count === 1 ? '1 activation' : `${count} activations`;

export function describeMachine({ activations, id, lastSeenAt }: FoundMachine): SearchHit {
  return {
    kind: 'machine',
    id,
    title: id,
    detail: activations === 0 ? 'without a license' : countActivations(activations),
    status: null,
    at: lastSeenAt.toISOString(),
    path: `/machine?${new URLSearchParams({ id }).toString()}`,
  };
}

export function describeInstall({ activations, id, lastSeenAt }: FoundMachine): SearchHit {
  return {
    kind: 'install',
    id,
    title: id,
    detail: countActivations(activations),
    status: null,
    at: lastSeenAt.toISOString(),
    path: `/installs/${id}`,
  };
}

export function describeEvent({
  eventId: id,
  installId,
  name,
  receivedAt,
}: StoredEventRecord): SearchHit {
  return {
    kind: 'event',
    id,
    title: name,
    detail: `install ${installId}`,
    status: null,
    at: receivedAt.toISOString(),
    path: `/events/stored/${id}`,
  };
}

export function describeMessage({ createdAt, endpointId, id, type }: FoundMessage): SearchHit {
  return {
    kind: 'webhook_message',
    id,
    title: id,
    detail: type,
    status: null,
    at: createdAt.toISOString(),
    path: endpointId === null ? '/webhooks' : `/webhooks/${endpointId}/${encodeURIComponent(id)}`,
  };
}

/** Describes what a payment provider names by an id; null for a customer without an address. */
export function describePayment(found: FoundPayment): SearchHit | null {
  const { at, detail, id, kind, provider, status } = found;
  const time = at?.toISOString() ?? null;
  if (kind !== 'customer') {
    const path =
      kind === 'payment_event'
        ? `/payments/${[provider, id].map(encodeURIComponent).join('/')}`
        : `/payments?${new URLSearchParams({ search: id }).toString()}`;
    const about = detail === null ? provider : `${provider} ${detail}`;
    return { kind, id, title: id, detail: about, status, at: time, path };
  }
  if (detail === null) return null;
  const address = detail.toLowerCase();
  const path = `/customer?${new URLSearchParams({ email: address }).toString()}`;
  const about = `customer ${id} of ${provider}`;
  return { kind, id: address, title: address, detail: about, status: null, at: time, path };
}

/** Removes repeated hits, and lists them by kind in the order of the interface. */
export function sortHits(hits: readonly SearchHit[], order: readonly SearchKind[]): SearchHit[] {
  const unique = new Map(hits.map((hit) => [`${hit.kind} ${hit.path}`, hit] as const));
  return [...unique.values()].toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}
