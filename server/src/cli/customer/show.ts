import { Command } from 'commander';
import type { HeldRow } from '#server/features/customers/queries/held-rows.ts';
import { type HeldData, readHeld } from '#server/features/customers/read-held.ts';
import { auditAccess } from '../audit-access.ts';
import { accessReasonOption, jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatFields, paint, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { addressArgument } from '../subscriber/show.ts';
import { withContext } from '../with-context.ts';

interface ShowOptions extends OutputOptions {
  readonly reason?: string;
}

/** The rest is in the JSON. */
const MAX_ROWS_SHOWN = 10;

export function customerShowCommand(): Command {
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
    const held = await withProgress('payment events', (report) => readHeld(ctx, email, report));
    const { reason } = options;
    const { id } = held.person.address;
    await auditAccess(ctx, { action: 'customer.show', subjectId: id, reason });
    printResult(options, toJson(email, held), () => toText(email, held));
  });
}

function toJson(email: string, { person, tables }: HeldData) {
  return {
    address: email,
    id: person.address.id,
    install_ids: person.installIds,
    ...Object.fromEntries(tables),
  };
}

function toText(email: string, { person, tables }: HeldData): string {
  const head = formatFields([
    ['address', email],
    ['id', person.address.id],
    ['installs', person.installIds.join(' ') || null],
  ]);
  if (tables.size === 0) return `${head}\n\nNothing is held about this address.`;
  return [head, ...Array.from(tables, ([table, rows]) => formatSection(table, rows))].join('\n\n');
}

function formatSection(table: string, rows: readonly HeldRow[]): string {
  const shown = rows.slice(0, MAX_ROWS_SHOWN).map(formatRow);
  const more = rows.length - shown.length;
  return [
    paint('bold', `${table} (${rows.length})`),
    shown.join('\n\n'),
    ...(more > 0 ? [`${more} more: see --json.`] : []),
  ].join('\n');
}

function formatRow(row: HeldRow): string {
  const fields = Object.entries(row)
    .filter(([name, value]) => value !== null && name !== 'body')
    .map(([name, value]) => [name, toCell(value)] as const);
  return formatFields(fields);
}

function toCell(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
