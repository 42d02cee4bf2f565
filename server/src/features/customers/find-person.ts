import { domainToUnicode } from 'node:url';

import type { Pool } from 'pg';

import type { Vault } from '#server/lib/vault.ts';

import { subscriberIdOf, hashAddress, normalizeAddress } from '../suppressions/address-hash.ts';
import type { Person, Address, EventKey, SharedDeviceChoice } from './facts.ts';
import { searchBodies } from './queries/bodies.ts';
import {
  listAdjustmentEvents,
  listCustomers,
  listKeyEmails,
  listLedgerRows,
  listLicenseIds,
  findMachines,
  listMessageIds,
} from './queries/find-person.ts';
import {
  listSharedInstalls,
  listSharedMachines,
  type PersonsDevices,
} from './queries/shared-devices.ts';
import { listSearchTexts, mentionsPerson } from './rules/mentions.ts';
import { selectDevices } from './rules/select-devices.ts';

/**
 * Finds the rows with data of a person by one e-mail address in any spelling. Another address of the same person
 * must be searched for separately, because nothing connects the two.
 */
export async function findPerson(
  { pool, vault }: { readonly pool: Pool; readonly vault: Vault },
  email: string,
  included: SharedDeviceChoice = NO_SHARED_DEVICES,
): Promise<Person> {
  const address = toAddress(vault, email);
  const { spellings } = address;
  const licenseIds = await listLicenseIds(pool, spellings);
  const customers = await listCustomers(pool, spellings);
  const ledger = await listLedgerRows(pool, spellings, customers);
  const payments = ledger.filter(({ kind }) => kind === 'payment');
  // Emails with keys are stored with the hash of the stored address, in lower case.
  const hashes = [vault, ...vault.previous].flatMap((keyed) =>
    spellings.map((spelling) => keyed.hashText('email', spelling)),
  );
  return {
    address,
    licenseIds,
    customers,
    ledger,
    events: [...ledger, ...(await listAdjustmentEvents(pool, payments))],
    keyEmails: await listKeyEmails(pool, hashes, licenseIds),
    messageIds: await listMessageIds(pool, spellings),
    ...(await findDevices(pool, licenseIds, included)),
  };
}

/** Devices on which another customer's license was activated may contain data about that customer (GDPR, article 15(4)). */
const NO_SHARED_DEVICES: SharedDeviceChoice = { installs: [], machines: [] };

type Devices = Pick<Person, 'installIds' | 'machineIds' | 'sharedInstalls' | 'sharedMachines'>;

async function findDevices(
  pool: Pool,
  licenseIds: readonly string[],
  included: SharedDeviceChoice,
): Promise<Devices> {
  const devices = await findMachines(pool, licenseIds);
  const shared = await findSharedDevices(pool, devices);
  return {
    ...shared,
    installIds: selectDevices(devices.installIds, shared.sharedInstalls, included.installs),
    machineIds: selectDevices(devices.machineIds, shared.sharedMachines, included.machines),
  };
}

/** Finds the installs and machines of a person's activations on which licenses of others were activated, too. */
export async function findSharedDevices(
  pool: Pool,
  devices: PersonsDevices,
): Promise<Pick<Person, 'sharedInstalls' | 'sharedMachines'>> {
  return {
    sharedInstalls: await listSharedInstalls(pool, devices),
    sharedMachines: await listSharedMachines(pool, devices),
  };
}

/**
 * Returns all stored forms of an address.
 * @throws RangeError for an invalid address
 */
export function toAddress(vault: Vault, email: string): Address {
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
 * Finds the payment events about a person: those of the ledgers, and those whose stored body mentions the person, by
 * reading all bodies. A body that was removed is not searched.
 * @param onProgress called with the number of events that were read
 */
export async function findEvents(
  { pool }: { readonly pool: Pool },
  person: Person,
  onProgress: (done: number) => void,
): Promise<EventKey[]> {
  const found = new Map(person.events.map((event) => [keyOf(event), event]));
  const searchTexts = listSearchTexts(person);
  let read = 0;
  for (let after: EventKey = { eventId: '', provider: '' }; ;) {
    const page = await searchBodies(pool, searchTexts, after, PAGE_ROWS);
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

function keyOf({ provider, eventId }: EventKey): string {
  return `${provider} ${eventId}`;
}
