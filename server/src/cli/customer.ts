/** `latchkey customer`: all data stored about the owner of an e-mail address. */
import type { Context } from '#server/context.ts';
import { eraseCustomer, type ErasureResult } from '#server/features/customers/erase-customer.ts';
import type { SharedDevice, SharedDeviceChoice } from '#server/features/customers/facts.ts';
import { describeIncluded } from '#server/features/customers/rules/select-devices.ts';
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
import { customerPaymentsCommand } from './customer-payments.ts';
import { outputOption, writeExport } from './export-file.ts';
import { addressArgument, reasonOption, requiredReasonOption } from './options.ts';
import { paint, printNote, withProgress } from './output.ts';
import { flag, option } from './parameters.ts';
import { formatFields, formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const readData = (
  context: Context,
  email: string,
  included?: SharedDeviceChoice,
): Promise<PersonalData> =>
  withProgress('payment events', (onProgress) =>
    readPersonalData(context, email, { onProgress, ...(included && { included }) }),
  );

/** Installs and machines that others' licenses were activated on, too. */
const includeSharedOption = option(
  '--include-shared <ids>',
  'shared installs and machines whose data is treated as that of the customer: ids separated by commas, or all (default: none)',
  readIncluded,
);

function readIncluded(text: string): SharedDeviceChoice {
  if (text.trim() === 'all') return { installs: 'all', machines: 'all' };
  const ids = text.split(',').map((id) => id.trim());
  return { installs: ids.map((id) => id.toLowerCase()), machines: ids };
}

/** Names the shared installs and machines, with their numbers of other licenses. */
function describeShared({ sharedInstalls, sharedMachines }: PersonalData['person']): string {
  return [
    ...sharedInstalls.map((install) => `install ${nameShared(install)}`),
    ...sharedMachines.map((machine) => `machine ${nameShared(machine)}`),
  ].join('\n');
}

function nameShared({ id, otherLicenses }: SharedDevice): string {
  return `${id} (${countOf(otherLicenses, 'other license')})`;
}

const SHARED =
  'Licenses of others were activated on these, too. Their data is left out unless you name them in --include-shared:';

/** The note about shared installs and machines; null without any. */
function noteShared({ person }: PersonalData): string | null {
  const shared = describeShared(person);
  return shared === '' ? null : `${SHARED}\n${shared}`;
}

function toSharedJson({ sharedInstalls, sharedMachines }: PersonalData['person']) {
  return {
    shared_installs: sharedInstalls.map(toDeviceJson),
    shared_machines: sharedMachines.map(toDeviceJson),
  };
}

function toDeviceJson({ id, otherLicenses }: SharedDevice) {
  return { id, other_licenses: otherLicenses };
}

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
      json: {
        address,
        id,
        install_ids: person.installIds,
        ...toSharedJson(person),
        ...Object.fromEntries(tables),
      },
      text: formatData(address, data),
      note: noteShared(data),
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
  parameters: [addressArgument, outputOption, includeSharedOption, reasonOption],
  async run(context, { address, output, includeShared, reason }) {
    const data = await readData(context, address, includeShared ?? undefined);
    const { id } = data.person.address;
    const details = describeIncluded(data.person);
    await auditAccess(context, { action: 'customer.export', subjectId: id, reason, details });
    await writeExport('records', output, () => exportCustomer(context, address, data));
    const note = noteShared(data);
    if (note !== null) printNote(note);
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
    includeSharedOption,
    flag('--yes', 'erase; without it nothing is changed'),
  ],
  async run(context, { address, reason, revoke, includeShared, yes }) {
    const data = await readData(context, address, includeShared ?? undefined);
    if (!yes) {
      const plan = planErasure(data, revoke);
      return {
        json: { dry_run: true, tables: plan, ...toSharedJson(data.person) },
        text: formatPlan(plan),
        note: noteShared(data),
      };
    }
    const result = await eraseCustomer(context, data, { actor: currentActor(), reason, revoke });
    const { id } = data.person.address;
    const { archives, licenses, removedBodies, keptBodies, keptInstalls, keptMachines } = result;
    return {
      json: {
        dry_run: false,
        id,
        licenses,
        removed_bodies: removedBodies,
        kept_bodies: keptBodies,
        kept_installs: keptInstalls,
        kept_machines: keptMachines,
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

function formatErasure(id: string, result: ErasureResult): string {
  const { licenses, removedBodies, keptBodies, keptInstalls, keptMachines } = result;
  const summary = `Erased ${id}: removed the customer of ${countOf(licenses, 'license')} and the bodies of ${countOf(removedBodies, 'payment event')}.`;
  const lines = [summary];
  if (keptInstalls + keptMachines > 0) {
    lines.push(
      `Kept the data of ${countOf(keptInstalls, 'shared install')} and ${countOf(keptMachines, 'shared machine')}.`,
    );
  }
  if (keptBodies === 0) return lines.join('\n');
  return `${lines.join('\n')}\nKept the bodies of ${countOf(keptBodies, 'payment event')} not applied yet. Replay or dismiss them (latchkey webhook list --status failed), then erase again.`;
}

export const customerCommand = commandGroup(
  'customer',
  'Show, export and erase all data stored about the owner of an e-mail address, and list their payments.',
  [showCommand, customerPaymentsCommand, exportCommand, eraseCommand],
);
