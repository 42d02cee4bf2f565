import { Command } from 'commander';

import { eraseCustomer, type ErasureResult } from '#server/features/customers/erase-customer.ts';
import {
  exportCustomer,
  type PersonalData,
  readPersonalData,
} from '#server/features/customers/personal-data.ts';
import type { PersonalDataRow } from '#server/features/customers/queries/personal-data.ts';

import { auditAccess, currentActor } from './actor.ts';
import { writeExport } from './export-file.ts';
import { accessReasonOption, jsonOption, reasonOption, withExamples } from './options.ts';
import {
  formatFields,
  formatTable,
  type OutputOptions,
  paint,
  printResult,
  withProgress,
} from './output.ts';
import { addressArgument } from './subscriber.ts';
import { withContext } from './with-context.ts';

/** `latchkey customer …` */
export function customerCommand(): Command {
  return new Command('customer')
    .description(
      'Show, export and erase everything that is held about the owner of an e-mail address.',
    )
    .addCommand(customerShowCommand())
    .addCommand(customerExportCommand())
    .addCommand(customerEraseCommand());
}

interface ShowOptions extends OutputOptions {
  readonly reason?: string;
}

/** The rest is in the JSON. */
const MAX_ROWS_SHOWN = 10;

function customerShowCommand(): Command {
  const command = new Command('show')
    .description(
      'Show what is held about the owner of an e-mail address, table by table. Reads all payment events; the audit log records it.',
    )
    .addArgument(addressArgument())
    .addOption(accessReasonOption())
    .addOption(jsonOption())
    .action(show);
  return withExamples(command, [
    ['customer show ada@example.com', 'Licenses, payments, news, outreach, audit rows'],
    [
      'customer show ada@example.com --json',
      'Every row in full, with the bodies of payment events',
    ],
  ]);
}

async function show(email: string, options: ShowOptions): Promise<void> {
  await withContext(async (ctx) => {
    const held = await withProgress('payment events', (report) =>
      readPersonalData(ctx, email, report),
    );
    const { reason } = options;
    const { id } = held.person.address;
    await auditAccess(ctx, { action: 'customer.show', subjectId: id, reason });
    printResult(options, toJsonShow(email, held), () => toText(email, held));
  });
}

function toJsonShow(email: string, { person, tables }: PersonalData) {
  return {
    address: email,
    id: person.address.id,
    install_ids: person.installIds,
    ...Object.fromEntries(tables),
  };
}

function toText(email: string, { person, tables }: PersonalData): string {
  const head = formatFields([
    ['address', email],
    ['id', person.address.id],
    ['installs', person.installIds.join(' ') || null],
  ]);
  if (tables.size === 0) return `${head}\n\nNothing is held about this address.`;
  return [head, ...Array.from(tables, ([table, rows]) => formatSection(table, rows))].join('\n\n');
}

function formatSection(table: string, rows: readonly PersonalDataRow[]): string {
  const shown = rows.slice(0, MAX_ROWS_SHOWN).map(formatRow);
  const more = rows.length - shown.length;
  return [
    paint('bold', `${table} (${rows.length})`),
    shown.join('\n\n'),
    ...(more > 0 ? [`${more} more: see --json.`] : []),
  ].join('\n');
}

function formatRow(row: PersonalDataRow): string {
  const fields = Object.entries(row)
    .filter(([name, value]) => value !== null && name !== 'body')
    .map(([name, value]) => [name, toCell(value)] as const);
  return formatFields(fields);
}

function toCell(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface ExportOptions {
  readonly output?: string;
  readonly reason?: string;
}

function customerExportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write everything that is held about the owner of an e-mail address as JSON: the rows of every table, and the events of the installs. The audit log records it.',
    )
    .addArgument(addressArgument())
    .option('--output <file>', 'a new file, instead of standard output')
    .addOption(accessReasonOption())
    .action(run);
  return withExamples(command, [
    [
      'customer export ada@example.com --output ada.json --reason "request of 3 May"',
      'The answer to a request of access (GDPR, articles 15 and 20)',
    ],
  ]);
}

async function run(email: string, { output, reason }: ExportOptions): Promise<void> {
  await withContext(async (ctx) => {
    const held = await withProgress('payment events', (report) =>
      readPersonalData(ctx, email, report),
    );
    const { id } = held.person.address;
    await auditAccess(ctx, { action: 'customer.export', subjectId: id, reason });
    await writeExport('records', output, () => exportCustomer(ctx, email, held));
  });
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
  readonly revoke?: boolean;
  readonly yes?: boolean;
}

function customerEraseCommand(): Command {
  const command = new Command('erase')
    .summary('Erase the owner of an e-mail address.')
    .description(
      `Erase the owner of an e-mail address from every table. Without --yes it changes nothing and lists what goes and what stays.

Licenses go on working, without their customer, unless --revoke. Erase the customer at the payment provider first: what it sends
later is stored again. Interrupted, it is run again.`,
    )
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .option('--revoke', 'revoke the licenses, too')
    .option('--yes', 'erase; without it nothing is changed')
    .addOption(jsonOption())
    .action(erase);
  return withExamples(command, [
    ['customer erase ada@example.com --reason "request of 3 May"', 'What would go, and what stays'],
    ['customer erase ada@example.com --reason "request of 3 May" --yes', 'Erase it'],
  ]);
}

async function erase(email: string, options: EraseOptions): Promise<void> {
  const { reason, revoke = false, yes = false } = options;
  await withContext(async (ctx) => {
    const held = await withProgress('payment events', (report) =>
      readPersonalData(ctx, email, report),
    );
    const plan = describePlan(held, revoke);
    if (!yes) {
      printResult(options, { dry_run: true, tables: plan }, () => showPlan(plan));
      return;
    }
    const erasure = { actor: currentActor(), reason, revoke };
    const result = await eraseCustomer(ctx, held, erasure);
    const { id } = held.person.address;
    printResult(options, { dry_run: false, id, ...toJsonErase(result) }, () =>
      showResult(id, result),
    );
  });
}

interface PlannedTable {
  readonly table: string;
  readonly rows: number;
  readonly outcome: string;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  license_transactions: 'stay: ids of checkouts',
  activations: 'stay with the license: the machines that it works on',
  usage_days: 'deleted',
  billing_customers: 'address, name and language removed; ids stay',
  billing_payments: 'address, name and language removed; what was paid stays, licenses need it',
  billing_subscriptions: 'address, name and language removed; the terms stay, licenses need them',
  billing_events: 'body removed, no replay; one that was not applied stays until it is dismissed',
  key_emails: 'hash of the address removed',
  subscribers: 'deleted',
  subscriber_confirmations: 'deleted',
  suppressions: 'stay: the hash of the address keeps mail away',
  outreach_messages: 'hash of the address removed',
  webhook_messages: 'address removed',
  audit_log: 'stay: they name no address',
};

function describePlan({ person, tables }: PersonalData, revoke: boolean): PlannedTable[] {
  const licenses = `address, name and note removed; ${revoke ? 'revoked' : 'they go on working'}`;
  const outcomes: Readonly<Record<string, string>> = { ...OUTCOMES, licenses };
  const planned = Array.from(tables, ([table, rows]) => ({
    table,
    rows: rows.length,
    outcome: outcomes[table] ?? 'stay',
  }));
  const installs = person.installIds.length;
  return installs === 0
    ? planned
    : [...planned, { table: 'installs', rows: installs, outcome: 'their events deleted' }];
}

function showPlan(plan: readonly PlannedTable[]): string {
  const table =
    plan.length === 0
      ? 'Nothing is held about this address.'
      : formatTable(
          ['what', 'rows', 'outcome'],
          plan.map(({ table: name, rows, outcome }) => [name, rows, outcome]),
        );
  return `${table}\n\nNothing was changed. Run it with --yes to erase; the address then gets no newsletter and no outreach.`;
}

function toJsonErase({ licenses, removedBodies, keptBodies }: ErasureResult) {
  return { licenses, removed_bodies: removedBodies, kept_bodies: keptBodies };
}

function showResult(id: string, { licenses, removedBodies, keptBodies }: ErasureResult): string {
  const kept =
    keptBodies === 0
      ? []
      : [
          `Payment events that were not applied keep their bodies: ${keptBodies}. Replay or dismiss them (latchkey webhook list --status failed), then erase again.`,
        ];
  return [
    `${id} is erased: ${licenses} licenses without a customer, ${removedBodies} bodies of payment events removed.`,
    ...kept,
  ].join('\n');
}
