/** `latchkey customer payments`: what a customer paid, and what was paid back. */
import { writeAmount, type CustomerMoney, type CustomerTotal } from '@latchkey/contract';

import { toAddress } from '#server/features/customers/find-person.ts';
import { listCustomerPayments } from '#server/features/customers/list-customer-payments.ts';
import { formatCsvLines, type CsvColumns } from '#server/lib/csv.ts';

import { auditAccess } from './actor.ts';
import { addressArgument, reasonOption } from './options.ts';
import { flag } from './parameters.ts';
import { formatRows, joinSections } from './table.ts';
import { describeAmount, describeProducts } from './webhook-view.ts';
import { contextCommand } from './with-context.ts';

/** Amounts are decimal numbers. */
const COLUMNS: CsvColumns<CustomerMoney> = {
  occurred_at: (each) => each.occurred_at,
  kind: (each) => each.kind,
  provider: (each) => each.provider,
  transaction_id: (each) => each.transaction_id,
  subscription_id: (each) => each.subscription_id,
  products: (each) => describeProducts(each),
  amount: (each) => each.amount_text,
  tax: ({ tax, decimals }) =>
    tax === null || decimals === null ? null : writeAmount(tax, decimals),
  currency: (each) => each.currency,
  country: (each) => each.country,
  status: (each) => each.status,
  reported: (each) => each.reported,
};

export const customerPaymentsCommand = contextCommand({
  name: 'payments',
  description:
    'List all purchases, refunds and disputes of the owner of an e-mail address, with totals for each currency. The audit log records it.',
  examples: {
    'customer payments ada@example.com': 'What she paid, and what was paid back',
    'customer payments ada@example.com --csv': 'For a spreadsheet, with amounts as decimal numbers',
  },
  parameters: [
    addressArgument,
    flag('--csv', 'print CSV, with amounts as decimal numbers'),
    reasonOption,
  ],
  async run(context, { address, csv, reason }) {
    const { id } = toAddress(context.vault, address);
    await auditAccess(context, { action: 'customer.payments', subjectId: id, reason });
    const found = await listCustomerPayments(context, address);
    const text = csv ? await toCsv(found.payments) : toTables(found);
    const note = found.is_complete ? null : 'The customer has more payments than are shown.';
    return { json: found, text, note };
  },
});

async function toCsv(payments: readonly CustomerMoney[]): Promise<string> {
  const lines = await Array.fromAsync(formatCsvLines(payments, COLUMNS));
  return lines.join('').trimEnd();
}

function toAmount(read: (total: CustomerTotal) => number) {
  return (total: CustomerTotal) => writeAmount(read(total), total.decimals);
}

function toTables({
  payments,
  totals,
}: {
  readonly payments: readonly CustomerMoney[];
  readonly totals: readonly CustomerTotal[];
}): string {
  const list = formatRows(payments, 'No payments.', [
    ['time', (each) => new Date(each.occurred_at)],
    ['kind', (each) => each.kind],
    ['products', describeProducts],
    ['amount', describeAmount],
    ['country', (each) => each.country],
    ['transaction', (each) => each.transaction_id],
  ]);
  const sums = formatRows(totals, '', [
    ['total', (total) => total.currency],
    ['payments', (total) => total.payments],
    ['gross', toAmount((total) => total.gross)],
    ['tax', toAmount((total) => total.tax)],
    ['refunds', toAmount((total) => total.refunds)],
    ['disputes', toAmount((total) => total.disputes)],
    ['net', toAmount((total) => total.net)],
  ]);
  return joinSections(list, sums);
}
