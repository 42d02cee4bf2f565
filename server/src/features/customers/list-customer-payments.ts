import type { CustomerPayments } from '@latchkey/contract';

import { listPurchasePayments } from '../billing/list-purchase-payments.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { toAddress } from './find-person.ts';
import { listAccountsOf, listLicensesOf, listPaymentsOf, MAX_ROWS } from './queries/overview.ts';

/** Lists the payments, refunds and disputes of the owner of an address, with totals for each currency. */
export async function listCustomerPayments(
  deps: Pick<LicenseChangeDependencies, 'catalog' | 'pool' | 'vault'>,
  email: string,
): Promise<CustomerPayments> {
  const { pool, vault } = deps;
  const { spellings } = toAddress(vault, email);
  const licenses = await listLicensesOf(pool, spellings);
  const accounts = await listAccountsOf(pool, spellings);
  const licenseIds = licenses.map(({ id }) => id);
  const transactions = await listPaymentsOf(pool, licenseIds, accounts);
  const isComplete = [licenses, accounts, transactions].every(({ length }) => length < MAX_ROWS);
  return { ...(await listPurchasePayments(deps, transactions)), is_complete: isComplete };
}
