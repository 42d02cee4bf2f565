import type { Context } from '#server/context.ts';

import type { Person } from './facts.ts';
import { toAddress } from './to-address.ts';
import {
  findAdjustmentEvents,
  findCustomers,
  findKeyEmails,
  findLedgerRows,
  findLicenseIds,
  findMachines,
  findMessageIds,
} from './queries/find-person.ts';

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
