/** `latchkey audit`: the audit log. */
import { Command } from 'commander';

import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';
import {
  type AuditFilter,
  isAuditEntry,
  listAuditPage,
  type StoredAuditEntry,
} from '#server/features/audit/queries.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';

import { usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { readLicenseName } from './license/argument.ts';
import { cursor, jsonOption, limitOption, moment, newCommand, shortText } from './options.ts';
import { type OutputOptions, printNextPage, printResult } from './output.ts';
import { formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function auditCommand(): Command {
  return new Command('audit')
    .description('Read the audit log: manual changes, and access to secrets and personal data.')
    .addCommand(listCommand());
}

interface ListOptions extends OutputOptions {
  readonly since?: Date;
  readonly until?: Date;
  readonly actor?: string;
  readonly action?: string;
  readonly license?: string;
  readonly subject?: string;
  readonly cursor?: string;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

function listCommand(): Command {
  return newCommand('list', 'List the entries of the audit log, newest first.', [
    ['audit list --since 2026-11-01', 'Entries since the start of a month'],
    ['audit list --action license.reveal --actor anna', 'Keys that were shown to anna'],
    ['audit list --license 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d', 'Changes of one license'],
    ['audit list --limit 1000 --json', 'As JSON; next_cursor is the --cursor of the next page'],
  ])
    .option('--since <time>', 'from a date (00:00 UTC) or date-time on', moment)
    .option('--until <time>', 'before a date (00:00 UTC) or date-time', moment)
    .option('--actor <name>', 'account (anna), or one word of an actor (sudo:anna)', shortText)
    .option('--action <action>', 'action (license.reveal), or its noun (license)', shortText)
    .option('--license <license>', 'key or id of a license; - reads it from standard input')
    .option('--subject <id>', 'any other subject, by its id in --json', shortText)
    .option('--cursor <id>', 'next_cursor of the previous page', cursor)
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  if (options.license !== undefined && options.subject !== undefined) {
    throw usageError('Use either --license or --subject, not both.');
  }
  await withContext(async (context) => {
    const { cursor: after = null, limit } = options;
    if (after !== null && !(await isAuditEntry(context.pool, after))) {
      throw usageError(`The audit log has no entry ${after}: use the cursor of the previous page.`);
    }
    // One more than the page, to find out whether there is another page.
    const found = await listAuditPage(
      context.pool,
      await toFilter(context, options),
      after,
      limit + 1,
    );
    const entries = found.slice(0, limit);
    const next = found.length > limit ? (entries.at(-1)?.id ?? null) : null;
    printResult(options, { entries: entries.map(toJson), next_cursor: next }, () =>
      formatEntries(entries),
    );
    printNextPage(options, next);
  });
}

async function toFilter(context: Context, options: ListOptions): Promise<AuditFilter> {
  const { since = null, until = null, actor = null, action = null, subject = null } = options;
  const { license } = options;
  const subjectId = license === undefined ? subject : await findLicenseId(context, license);
  return { since, until, actor, action, subjectId };
}

async function findLicenseId(context: Context, argument: string): Promise<string> {
  const id = await resolveLicenseId(context, await readLicenseName(argument));
  if (id === null) throw licenseNotFound();
  return id;
}

function toJson(entry: StoredAuditEntry) {
  return {
    id: entry.id,
    occurred_at: entry.occurredAt,
    actor: entry.actor,
    action: entry.action,
    subject_id: entry.subjectId,
    reason: entry.reason,
    details: entry.details,
  };
}

function formatEntries(entries: readonly StoredAuditEntry[]): string {
  return formatRows(
    entries,
    'No matching entries.',
    [
      ['time', (entry) => entry.occurredAt],
      ['actor', (entry) => entry.actor],
      ['action', (entry) => entry.action],
      ['subject', (entry) => entry.subjectId],
      ['reason', (entry) => entry.reason],
    ],
    commandProcess().stdout.columns,
  );
}
