import { domainToUnicode } from 'node:url';

import type { Context } from '#server/context.ts';

import { subscriberIdOf, hashAddress, normalizeAddress } from '../suppressions/address-hash.ts';
import type { Person, Address, EventName } from './facts.ts';
import { searchBodies } from './queries/bodies.ts';
import {
  findAdjustmentEvents,
  findCustomers,
  findKeyEmails,
  findLedgerRows,
  findLicenseIds,
  findMachines,
  findMessageIds,
} from './queries/find-person.ts';
import { listNeedles, mentionsPerson } from './rules/mentions.ts';

/**
 * Finds where the data of a person lie, by one e-mail address in any spelling. Another address of the same person is found
 * only when it is asked for, since nothing says that two addresses are one person's.
 */
export async function findPerson(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  email: string,
): Promise<Person> {
  const address = toAddress(vault, email);
  const { spellings } = address;
  const licenseIds = await findLicenseIds(pool, spellings);
  const customers = await findCustomers(pool, spellings);
  const ledger = await findLedgerRows(pool, spellings, customers);
  const payments = ledger.filter(({ kind }) => kind === 'payment');
  // The hash of an e-mail with keys is made of the address as it was stored, in lower case.
  const hashes = [vault, ...vault.previous].flatMap((keyed) =>
    spellings.map((spelling) => keyed.hashText('email', spelling)),
  );
  return {
    address,
    licenseIds,
    customers,
    ledger,
    events: [...ledger, ...(await findAdjustmentEvents(pool, payments))],
    keyEmails: await findKeyEmails(pool, hashes, licenseIds),
    messageIds: await findMessageIds(pool, spellings),
    ...(await findMachines(pool, licenseIds)),
  };
}

/**
 * Every form of an address that is looked for.
 * @throws RangeError for what is no address
 */
export function toAddress(vault: Context['vault'], email: string): Address {
  const keyed = [vault, ...vault.previous];
  const hash = hashAddress(vault, email);
  const hashes = keyed.map((each) => hashAddress(each, email));
  const ids = keyed.map((each) => subscriberIdOf(each, hashAddress(each, email)));
  const normalized = normalizeAddress(email);
  const at = normalized.lastIndexOf('@') + 1;
  const unicode = `${normalized.slice(0, at)}${domainToUnicode(normalized.slice(at))}`;
  const spellings = [...new Set([email.toLowerCase(), normalized, unicode])];
  return { id: subscriberIdOf(vault, hash), ids, hash, hashes, spellings };
}

const PAGE_ROWS = 1_000;

/**
 * Every payment event about a person: those that the ledgers name, and those whose stored body mentions the person, found
 * by reading all bodies. A body that was removed is not searched.
 * @param onProgress called with the number of events that were read
 */
export async function findEvents(
  { pool }: Pick<Context, 'pool'>,
  person: Person,
  onProgress: (done: number) => void,
): Promise<EventName[]> {
  const found = new Map(person.events.map((event) => [keyOf(event), event]));
  const needles = listNeedles(person);
  let read = 0;
  for (let after: EventName = { eventId: '', provider: '' }; ;) {
    const page = await searchBodies(pool, needles, after, PAGE_ROWS);
    for (const { body, ...event } of page) {
      if (body === null || !mentionsPerson(body, event.provider, person)) continue;
      found.set(keyOf(event), event);
    }
    read += page.length;
    onProgress(read);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) break;
    after = last;
  }
  return [...found.values()].map(({ provider, eventId }) => ({ provider, eventId }));
}

function keyOf({ provider, eventId }: EventName): string {
  return `${provider} ${eventId}`;
}
