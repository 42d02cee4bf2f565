/** `latchkey audit`: the audit log. */
import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';
import {
  isAuditEntry,
  listAuditPage,
  type StoredAuditEntry,
} from '#server/features/audit/queries.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';

import { commandGroup } from './command.ts';
import { usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { readLicenseName } from './license/argument.ts';
import { cursorOption, limitOption, timestamp, shortText } from './options.ts';
import { anyText, option } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const listCommand = contextCommand({
  name: 'list',
  description: 'List the entries of the audit log, newest first.',
  examples: {
    'audit list --since 2026-11-01': 'Entries since the start of a month',
    'audit list --action license.reveal --actor anna': 'Keys that were shown to anna',
    'audit list --license 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d': 'Changes of one license',
    'audit list --limit 1000 --json': 'As JSON; next_cursor is the --cursor of the next page',
  },
  parameters: [
    option('--since <time>', 'from a date (00:00 UTC) or date-time on', timestamp),
    option('--until <time>', 'before a date (00:00 UTC) or date-time', timestamp),
    option('--actor <name>', 'account (anna), or one word of an actor (sudo:anna)', shortText),
    option('--action <action>', 'action (license.reveal), or its noun (license)', shortText),
    option(
      '--license <license>',
      'key or id of a license; - reads it from standard input',
      anyText,
    ).conflicts('subject'),
    option('--subject <id>', 'any other subject, by its id in --json', shortText),
    cursorOption,
    limitOption(50),
  ],
  async run(context, { license, subject, cursor, limit, since, until, actor, action }) {
    if (cursor !== null && !(await isAuditEntry(context.pool, cursor))) {
      throw usageError(
        `The audit log has no entry ${cursor}: use the cursor of the previous page.`,
      );
    }
    const subjectId = license === null ? subject : await findLicenseId(context, license);
    const filter = { since, until, actor, action, subjectId };
    // One more than the page, to find out whether there is another page.
    const found = await listAuditPage(context.pool, filter, cursor, limit + 1);
    const entries = found.slice(0, limit);
    const nextCursor = found.length > limit ? (entries.at(-1)?.id ?? null) : null;
    return {
      json: { entries: entries.map(toJson), next_cursor: nextCursor },
      text: formatEntries(entries),
      nextCursor,
    };
  },
});

async function findLicenseId(context: Context, license: string): Promise<string> {
  const id = await resolveLicenseId(context, await readLicenseName(license));
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

export const auditCommand = commandGroup(
  'audit',
  'Read the audit log: manual changes, and access to secrets and personal data.',
  [listCommand],
);
