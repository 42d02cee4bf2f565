import { Command, InvalidArgumentError, Option } from 'commander';
import { validate as isUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';
import {
  type AuditFilter,
  isAuditEntry,
  listAuditPage,
  type StoredAuditEntry,
} from '#server/features/audit/queries.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';

import { commandProcess } from './command-process.ts';
import { usageError } from './command-error.ts';
import { readLicenseName } from './license/argument.ts';
import { jsonOption, limitOption, moment, shortText, withExamples } from './options.ts';
import { type OutputOptions, printNote, printResult } from './output.ts';
import { fitTable } from './table.ts';
import { withContext } from './with-context.ts';

/** `latchkey audit …` */
export function auditCommand(): Command {
  return new Command('audit')
    .description(
      'Read the audit log: changes by hand, and secrets and personal data that were shown.',
    )
    .addCommand(auditListCommand());
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

function auditListCommand(): Command {
  const command = new Command('list')
    .description('List what was changed by hand, revealed and exported, newest first.')
    .option('--since <time>', 'then or later: a date (from 00:00 UTC) or a date-time', moment)
    .option('--until <time>', 'before then: a date (until 00:00 UTC) or a date-time', moment)
    .option('--actor <name>', 'by an account (anna) or one word of an actor (sudo:anna)', shortText)
    .option('--action <action>', 'an action (license.reveal) or all of a noun (license)', shortText)
    .option('--license <license>', 'of a license, by its key or id; - reads standard input')
    .option('--subject <id>', 'of any other subject, by its id as --json shows it', shortText)
    .addOption(new Option('--cursor <id>', 'the page after this entry').argParser(entryId))
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [
    ['audit list --since 2026-11-01', 'What was done this month'],
    ['audit list --action license.reveal --actor anna', 'Which keys anna was shown'],
    ['audit list --license 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d', 'What was done to one license'],
    ['audit list --limit 1000 --json', 'For a program; next_cursor names the next page'],
  ]);
}

function entryId(text: string): string {
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('It must be the next_cursor of the page before.');
}

async function list(options: ListOptions): Promise<void> {
  if (options.license !== undefined && options.subject !== undefined) {
    throw usageError('--license and --subject both name what was changed: give one of them.');
  }
  await withContext(async (ctx) => {
    const { cursor = null, limit } = options;
    if (cursor !== null && !(await isAuditEntry(ctx.pool, cursor))) {
      throw usageError(`The audit log has no entry ${cursor}: take --cursor from the page before.`);
    }
    // One more shows whether there is another page.
    const found = await listAuditPage(ctx.pool, await toFilter(ctx, options), cursor, limit + 1);
    const page = found.slice(0, limit);
    const next = found.length > limit ? (page.at(-1)?.id ?? null) : null;
    printResult(options, { entries: page.map(toJson), next_cursor: next }, () => toTable(page));
    if (next !== null && options.json !== true) printNote(`There are more: --cursor ${next}`);
  });
}

async function toFilter(ctx: Context, options: ListOptions): Promise<AuditFilter> {
  const { since = null, until = null, actor = null, action = null, subject = null } = options;
  const { license } = options;
  const subjectId = license === undefined ? subject : await findLicenseId(ctx, license);
  return { since, until, actor, action, subjectId };
}

async function findLicenseId(ctx: Context, argument: string): Promise<string> {
  const id = await resolveLicenseId(ctx, await readLicenseName(argument));
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

function toTable(entries: readonly StoredAuditEntry[]): string {
  if (entries.length === 0) return 'There is no such entry.';
  return fitTable(
    ['when', 'actor', 'action', 'subject', 'reason'],
    entries.map(({ occurredAt, actor, action, subjectId, reason }) => [
      occurredAt,
      actor,
      action,
      subjectId,
      reason,
    ]),
    commandProcess().stdout.columns,
  );
}
