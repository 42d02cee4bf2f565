/** `latchkey audit`: the audit log. */
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';
import { listNewestEntries, type StoredAuditEntry } from '#server/features/audit/list-entries.ts';
import type { ChainPoint } from '#server/features/audit/rules/find-break.ts';
import { verifyAuditLog, type Verification } from '#server/features/audit/verify-chain.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';

import { commandGroup } from './command.ts';
import { usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { readLicenseName } from './license/argument.ts';
import { cursorOption, limitOption, timestamp, shortText } from './options.ts';
import { withProgress } from './output.ts';
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
    const subjectId = license === null ? subject : await findLicenseId(context, license);
    const filters = {
      since: since?.toISOString(),
      until: until?.toISOString(),
      actor: actor ?? undefined,
      action: action ?? undefined,
      subject_id: subjectId ?? undefined,
    };
    const page = await listNewestEntries(context, filters, cursor, limit);
    if (page === null) {
      throw usageError(
        `The audit log has no entry ${cursor}: use the cursor of the previous page.`,
      );
    }
    const entries = page.rows;
    const nextCursor = page.next === null ? null : (entries.at(-1)?.id ?? null);
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
    sequence: entry.sequence,
    occurred_at: entry.occurredAt,
    actor: entry.actor,
    action: entry.action,
    subject_id: entry.subjectId,
    reason: entry.reason,
    details: entry.details,
    hash: entry.hash,
  };
}

function formatEntries(entries: readonly StoredAuditEntry[]): string {
  return formatRows(
    entries,
    'No matching entries.',
    [
      ['sequence', (entry) => entry.sequence],
      ['time', (entry) => entry.occurredAt],
      ['actor', (entry) => entry.actor],
      ['action', (entry) => entry.action],
      ['subject', (entry) => entry.subjectId],
      ['reason', (entry) => entry.reason],
    ],
    commandProcess().stdout.columns,
  );
}

const NOTE_HEAD =
  'Note the head on another system: --expect with it proves later that nothing up to it changed.';

const verifyCommand = contextCommand({
  name: 'verify',
  description:
    'Verify that no entry of the audit log was changed or removed, and print its head. The exit code is 1 for a broken log, with its first broken entry.',
  examples: {
    'audit verify': 'Print the head, to note it on another system',
    [`audit verify --expect 1234:${'9f'.repeat(32)}`]:
      'Whether everything up to a noted head is unchanged',
  },
  parameters: [
    option('--expect <head>', 'sequence number and hash of a noted head: 1234:9f86…', chainPoint),
  ],
  async run(context, { expect: expected }) {
    const verification = await withProgress('entries', (report) =>
      verifyAuditLog(context, { expected, report }),
    );
    const { verified, head, problem } = verification;
    return {
      json: {
        intact: problem === null,
        verified,
        head: head && { sequence: head.sequence, occurred_at: head.occurredAt, hash: head.hash },
        problem,
      },
      text: formatVerification(verification, expected),
      note: head && NOTE_HEAD,
      failed: problem !== null,
    };
  },
});

function chainPoint(text: string): ChainPoint {
  const { sequence, hash } =
    /^(?<sequence>[1-9]\d{0,14}):(?<hash>[0-9a-f]{64})$/iu.exec(text.trim())?.groups ?? {};
  if (sequence !== undefined && hash !== undefined) {
    return { sequence: Number(sequence), hash: hash.toLowerCase() };
  }
  throw new InvalidArgumentError(
    'Expected a head as audit verify prints it: a number, a colon and 64 hex digits.',
  );
}

function formatVerification(
  { verified, head, problem }: Verification,
  expected: ChainPoint | null,
): string {
  if (problem !== null) return `The audit log is broken: ${problem.message}`;
  if (head === null) return 'The audit log has no entries.';
  const containing =
    expected === null ? '' : `, and contains the expected entry ${expected.sequence}`;
  return [
    `The audit log is intact${containing}. Entries: ${verified}.`,
    `Head: ${head.sequence}:${head.hash}, ${head.occurredAt}`,
  ].join('\n');
}

export const auditCommand = commandGroup(
  'audit',
  'Read and verify the audit log: manual changes, and access to secrets and personal data.',
  [listCommand, verifyCommand],
);
