/** `latchkey revenue`: what was paid, paid back and recurs. */
import {
  writeAmount,
  type Revenue,
  type RevenueExportQuery,
  type RevenueRow,
} from '@latchkey/contract';
import { InvalidArgumentError } from 'commander';

import { reportRevenue } from '#server/features/billing/report-revenue.ts';
import {
  backfillRevenue,
  restartRevenue,
  rollUpDueRevenue,
} from '#server/features/billing/roll-up-revenue.ts';
import { REVENUE_COLUMNS } from '#server/features/billing/revenue-columns.ts';
import { formatCsvLines } from '#server/lib/csv.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { withProgress } from './output.ts';
import { requiredReasonOption } from './options.ts';
import { anyText, flag, option } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const showCommand = contextCommand({
  name: 'show',
  description:
    'Show gross, tax, refunds, net and monthly recurring revenue of payments. Currencies are never added without a rate.',
  examples: {
    'revenue show': 'The last twelve months, a row for each currency',
    'revenue show --by product,country --from 2027-01 --to 2027-03':
      'A quarter by product and country',
    'revenue show --currency EUR --rates USD:0.92,GBP:1.17 --csv': 'All in euros, as CSV',
  },
  parameters: [
    option(
      '--by <dimensions>',
      'month, product, country, provider, separated by commas (default: month)',
      anyText,
    ),
    option(
      '--from <month>',
      'first month, such as 2027-03 (default: eleven months before the last one)',
      monthText,
    ),
    option('--to <month>', 'last month (default: the current one)', monthText),
    option('--currency <code>', 'currency to which --rates convert', currencyCode),
    option(
      '--rates <rates>',
      'what one unit of other currencies is worth in --currency, such as USD:0.92',
      anyText,
    ),
    flag('--csv', 'print CSV, with amounts as decimal numbers'),
  ],
  async run(context, { csv, by, from, to, currency, rates }) {
    await rollUpDueRevenue(context);
    const report = await readAllPages(context, {
      ...(by !== null && { by }),
      ...(from !== null && { from }),
      ...(to !== null && { to }),
      ...(currency !== null && { currency }),
      ...(rates !== null && { rates }),
    });
    const note =
      report.backfill === null
        ? null
        : `${report.backfill} payments from before the upgrade are counted by now; the service counts the others.`;
    const text = csv ? await toCsv(report.rows) : toTable(report.rows);
    return { json: report, text, note };
  },
});

async function readAllPages(
  context: Parameters<typeof reportRevenue>[0],
  query: RevenueExportQuery,
): Promise<Revenue> {
  let { next, ...report } = await reportRevenue(context, query);
  const rows = [...report.rows];
  while (next !== null) {
    ({ next, ...report } = await reportRevenue(context, query, next));
    rows.push(...report.rows);
  }
  return { ...report, rows, next_cursor: null };
}

async function toCsv(rows: readonly RevenueRow[]): Promise<string> {
  const lines = await Array.fromAsync(formatCsvLines(rows, REVENUE_COLUMNS));
  return lines.join('').trimEnd();
}

function amount(read: (row: RevenueRow) => number): (row: RevenueRow) => string {
  return (row) => writeAmount(read(row), row.decimals);
}

function toTable(rows: readonly RevenueRow[]): string {
  const isDivided = (read: (row: RevenueRow) => string | null): boolean =>
    rows.some((row) => read(row) !== null);
  const groups = [
    ['month', (row: RevenueRow) => row.month],
    ['product', (row: RevenueRow) => row.product],
    ['country', (row: RevenueRow) => row.country],
    ['provider', (row: RevenueRow) => row.provider],
  ] as const;
  return formatRows(rows, 'No payments in these months.', [
    ...groups.filter(([, read]) => isDivided(read)),
    ['currency', (row) => row.currency],
    ['payments', (row) => row.payments],
    ['gross', amount((row) => row.gross)],
    ['tax', amount((row) => row.tax)],
    ['refunds', amount((row) => row.refunds)],
    ['disputes', amount((row) => row.disputes)],
    ['net', amount((row) => row.net)],
    ['mrr', amount((row) => row.mrr)],
    ['new', amount((row) => row.mrr_new)],
    ['lost', amount((row) => row.mrr_lost)],
  ]);
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

function monthText(text: string): string {
  if (MONTH.test(text)) return text;
  throw new InvalidArgumentError('Expected a month such as 2027-03.');
}

const CURRENCY = /^[A-Z]{3}$/;

function currencyCode(text: string): string {
  const code = text.toUpperCase();
  if (CURRENCY.test(code)) return code;
  throw new InvalidArgumentError('Expected a code of ISO 4217 such as EUR.');
}

const rebuildCommand = contextCommand({
  name: 'rebuild',
  description:
    'Compute the roll-ups of revenue anew from all payments, when you doubt them. Reports grow until it ends.',
  examples: { 'revenue rebuild --reason "after a restore"': 'Count all payments again' },
  parameters: [requiredReasonOption],
  async run(context, { reason }) {
    await restartRevenue(context, { actor: currentActor(), reason });
    let counted = 0;
    await withProgress('payments', (report) =>
      backfillRevenue(context, {
        onProgress: (count) => {
          counted = count;
          report(count);
        },
      }),
    );
    return { json: { counted }, text: `Counted ${counted} payments.` };
  },
});

export const revenueCommand = commandGroup('revenue', 'Show revenue, and compute it anew.', [
  showCommand,
  rebuildCommand,
]);
