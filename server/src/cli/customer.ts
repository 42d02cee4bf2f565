/** `latchkey customer`: all data stored about the owner of an e-mail address. */
import type { Context } from '#server/context.ts';
import { eraseCustomer, type ErasureResult } from '#server/features/customers/erase-customer.ts';
import { planErasure, type PlannedTable } from '#server/features/customers/plan-erasure.ts';
import {
  exportCustomer,
  type PersonalData,
  readPersonalData,
} from '#server/features/customers/personal-data.ts';
import type { PersonalDataRow } from '#server/features/customers/queries/personal-data.ts';
import { countOf } from '#server/lib/text.ts';

import { auditAccess, currentActor } from './actor.ts';
import { describeArchives } from './archives.ts';
import { commandGroup } from './command.ts';
import { outputOption, writeExport } from './export-file.ts';
import { addressArgument, reasonOption, requiredReasonOption } from './options.ts';
import { paint, withProgress } from './output.ts';
import { flag } from './parameters.ts';
import { formatFields, formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const readData = (context: Context, email: string): Promise<PersonalData> =>
  withProgress('payment events', (report) => readPersonalData(context, email, report));

/** The JSON has all of them. */
const MAX_ROWS_SHOWN = 10;

const showCommand = contextCommand({
  name: 'show',
  description:
    'Show the data stored about the owner of an e-mail address, table by table. Reads all payment events; the audit log records it.',
  examples: {
    'customer show ada@example.com': 'Licenses, payments, newsletter, outreach and audit log',
    'customer show ada@example.com --json': 'Every row, with the bodies of payment events',
  },
  parameters: [addressArgument, reasonOption],
  async run(context, { address, reason }) {
    const data = await readData(context, address);
    const { person, tables } = data;
    const { id } = person.address;
    await auditAccess(context, { action: 'customer.show', subjectId: id, reason });
    return {
      json: { address, id, install_ids: person.installIds, ...Object.fromEntries(tables) },
      text: formatData(address, data),
    };
  },
});

const NO_DATA = 'No data is stored about this address.';

function formatData(email: string, { person, tables }: PersonalData): string {
  const head = formatFields([
    ['address', email],
    ['id', person.address.id],
    ['installs', person.installIds.join(' ') || null],
  ]);
  if (tables.size === 0) return `${head}\n\n${NO_DATA}`;
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

const exportCommand = contextCommand({
  name: 'export',
  description:
    'Export all data stored about the owner of an e-mail address as JSON: the rows of every table, and the events of the installs. The audit log records it.',
  examples: {
    'customer export ada@example.com --output ada.json --reason "request of 3 May"':
      'Answer a request for access (GDPR, articles 15 and 20)',
  },
  hasJson: false,
  parameters: [addressArgument, outputOption, reasonOption],
  async run(context, { address, output, reason }) {
    const data = await readData(context, address);
    const { id } = data.person.address;
    await auditAccess(context, { action: 'customer.export', subjectId: id, reason });
    await writeExport('records', output, () => exportCustomer(context, address, data));
  },
});

const eraseCommand = contextCommand({
  name: 'erase',
  description: `Erase the owner of an e-mail address from every table. Without --yes it only lists what would be erased and kept.

Licenses stay valid without their customer, unless --revoke is set. Erase the customer at the payment provider first, since data that it sends later is stored again. Prints which archives may contain events of the person. If it is interrupted, run it again.`,
  examples: {
    'customer erase ada@example.com --reason "request of 3 May"':
      'List what would be erased and kept',
    'customer erase ada@example.com --reason "request of 3 May" --yes': 'Erase it',
  },
  parameters: [
    addressArgument,
    requiredReasonOption,
    flag('--revoke', 'revoke the licenses too'),
    flag('--yes', 'erase; without it nothing is changed'),
  ],
  async run(context, { address, reason, revoke, yes }) {
    const data = await readData(context, address);
    if (!yes) {
      const plan = planErasure(data, revoke);
      return { json: { dry_run: true, tables: plan }, text: formatPlan(plan) };
    }
    const result = await eraseCustomer(context, data, { actor: currentActor(), reason, revoke });
    const { id } = data.person.address;
    const { archives, licenses, removedBodies, keptBodies } = result;
    return {
      json: {
        dry_run: false,
        id,
        licenses,
        removed_bodies: removedBodies,
        kept_bodies: keptBodies,
        archives,
      },
      text: formatErasure(id, result),
      note: describeArchives(archives),
    };
  },
});

function formatPlan(plan: readonly PlannedTable[]): string {
  const table = formatRows(plan, NO_DATA, [
    ['table', (row) => row.table],
    ['rows', (row) => row.rows],
    ['outcome', (row) => row.outcome],
  ]);
  return `${table}\n\nNothing was changed. Run it with --yes to erase the data and suppress the address.`;
}

function formatErasure(id: string, { licenses, removedBodies, keptBodies }: ErasureResult): string {
  const summary = `Erased ${id}: removed the customer of ${countOf(licenses, 'license')} and the bodies of ${countOf(removedBodies, 'payment event')}.`;
  if (keptBodies === 0) return summary;
  return `${summary}\nKept the bodies of ${countOf(keptBodies, 'payment event')} not applied yet. Replay or dismiss them (latchkey webhook list --status failed), then erase again.`;
}

export const customerCommand = commandGroup(
  'customer',
  'Show, export and erase all data stored about the owner of an e-mail address.',
  [showCommand, exportCommand, eraseCommand],
);
