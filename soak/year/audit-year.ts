import type { TestService } from '../../server/test/harness.ts';
import { auditLicenses, readLicenses } from './audit-licenses.ts';
import { auditPayments, type Outcomes } from './audit-payments.ts';
import { auditRevenue } from './audit-revenue.ts';
import type { Books } from './books.ts';
import type { AnyHappening } from './happenings.ts';
import { keepLedger, type Totals } from './ledger.ts';
import type { WrittenEvent } from './writers/delivery.ts';

/** What happened, and what was sent of it. */
export interface Year {
  readonly accounts: readonly Books[];
  readonly happenings: readonly AnyHappening[];
  readonly events: readonly WrittenEvent[];
}

/** What was found. */
export interface YearReport {
  readonly payments: number;
  /** What was paid and paid back, by currency. */
  readonly totals: Totals;
  readonly outcomes: Outcomes;
  readonly licenses: number;
  /** Differences from the books, a sentence each. */
  readonly differences: readonly string[];
}

/** Compares the books of the shop with what the service stored, and with the revenue that it reports. */
export async function auditYear(service: TestService, year: Year): Promise<YearReport> {
  const licenses = await readLicenses(service.pool);
  const { outcomes, differences } = await auditPayments(service.pool, year.events, {
    unearned: new Set(year.accounts.flatMap(({ unearned }) => [...unearned])),
    withLicense: new Set(licenses.map(({ buyer }) => buyer)),
  });
  const ledger = keepLedger(year.happenings);
  return {
    payments: ledger.totals.payments,
    totals: ledger.totals,
    outcomes,
    licenses: licenses.length,
    differences: [
      ...auditLicenses(year.accounts, licenses),
      ...differences,
      ...(await auditRevenue(service, ledger)),
    ],
  };
}
