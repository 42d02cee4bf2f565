import { Command } from 'commander';
import { type ErasureResult, eraseCustomer } from '#server/features/customers/erase-customer.ts';
import { type HeldData, readHeld } from '#server/features/customers/read-held.ts';
import { currentActor } from '../actor.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { addressArgument } from '../subscriber/show.ts';
import { withContext } from '../with-context.ts';

interface EraseOptions extends OutputOptions {
  readonly reason: string;
  readonly revoke?: boolean;
  readonly yes?: boolean;
}

export function customerEraseCommand(): Command {
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
    const held = await withProgress('payment events', (report) => readHeld(ctx, email, report));
    const plan = describePlan(held, revoke);
    if (!yes) {
      printResult(options, { dry_run: true, tables: plan }, () => showPlan(plan));
      return;
    }
    const erasure = { actor: currentActor(), reason, revoke };
    const result = await eraseCustomer(ctx, held, erasure);
    const { id } = held.person.address;
    printResult(options, { dry_run: false, id, ...toJson(result) }, () => showResult(id, result));
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

function describePlan({ person, tables }: HeldData, revoke: boolean): PlannedTable[] {
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

function toJson({ licenses, removedBodies, keptBodies }: ErasureResult) {
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
