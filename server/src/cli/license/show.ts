/** `latchkey license list` and `show`. */
import { type Command, Option } from 'commander';

import type { Context } from '#server/context.ts';
import type { LicenseFilter } from '#server/features/licenses/queries/license-list.ts';
import { LICENSE_STATUSES, type LicenseStatus } from '#server/features/licenses/rules/status.ts';
import {
  type LicenseMoves,
  type LicenseOverview,
  type LicensePage,
  listLicenses,
  revealLicenseKey,
  showLicense,
} from '#server/features/licenses/show.ts';

import { auditAccess } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import {
  cursor,
  DAY_MS,
  emailAddress,
  jsonOption,
  limitOption,
  moment,
  newCommand,
  reasonOption,
  shortText,
  wholeNumber,
} from '../options.ts';
import { type OutputOptions, printNextPage, printResult } from '../output.ts';
import { formatFields, formatRows } from '../table.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson } from './view.ts';

interface ListOptions extends OutputOptions {
  readonly email?: string;
  readonly product?: string;
  readonly status?: LicenseStatus;
  readonly expiring?: number;
  readonly expiringBefore?: Date;
  readonly transaction?: string;
  readonly cursor?: string;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

export function licenseListCommand(): Command {
  return newCommand('list', 'List licenses, newest first, without their keys.', [
    ['license list --email ann@example.com', 'Licenses of a customer'],
    ['license list --status past_due --product personal', 'Subscriptions with an overdue payment'],
    ['license list --expiring 30', 'Licenses that expire in the next 30 days'],
    ['license list --limit 1000 --json', 'As JSON; next_cursor is the --cursor of the next page'],
  ])
    .option('--email <address>', 'e-mail address of the customer', emailAddress)
    .option('--product <id>', 'id of a product in the catalogue', shortText)
    .addOption(new Option('--status <status>', 'only this status').choices(LICENSE_STATUSES))
    .option(
      '--expiring <days>',
      'active licenses that expire within this many days',
      wholeNumber(1, 36_500),
    )
    .addOption(
      new Option(
        '--expiring-before <time>',
        'active licenses that expire before a date (00:00 UTC) or date-time',
      )
        .argParser(moment)
        .conflicts('expiring'),
    )
    .option('--transaction <id>', 'transaction id of the checkout', shortText)
    .option('--cursor <id>', 'next_cursor of the previous page', cursor)
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (context) => {
    const { cursor: afterId = null, limit } = options;
    const page = await listLicenses(context, toFilter(context, options), { afterId, limit });
    const { nextCursor } = page;
    const details = { count: page.licenses.length };
    await auditAccess(context, { action: 'license.list', subjectId: 'licenses', details });
    const result = { licenses: page.licenses.map(toLicenseJson), next_cursor: nextCursor };
    printResult(options, result, () => formatPage(page));
    printNextPage(options, nextCursor);
  });
}

function toFilter(context: Context, options: ListOptions): LicenseFilter {
  const { email = null, product = null, status = null, transaction = null } = options;
  const { expiring, expiringBefore = null } = options;
  const isExpiring = expiring !== undefined || expiringBefore !== null;
  if (isExpiring && status !== null && status !== 'active') {
    throw usageError('--expiring lists active licenses only: remove --status.');
  }
  const end = expiring === undefined ? null : context.clock.now().getTime() + expiring * DAY_MS;
  return {
    email,
    productId: product,
    status,
    expiringBefore: end === null ? expiringBefore : new Date(end),
    transactionId: transaction,
  };
}

function formatPage({ licenses }: LicensePage): string {
  return formatRows(
    licenses,
    'No matching licenses.',
    [
      ['license', ({ license }) => license.id],
      ['key', ({ license }) => `…${license.keyHint}`],
      ['status', ({ status }) => status],
      ['expires', ({ expiresAt }) => expiresAt?.toISOString().slice(0, 10) ?? 'never'],
      ['product', ({ license }) => license.productId],
      ['customer', ({ license }) => license.customerEmail ?? license.customerName],
    ],
    commandProcess().stdout.columns,
  );
}

interface ShowOptions extends OutputOptions {
  readonly reveal?: boolean;
  readonly reason?: string;
}

export function licenseShowCommand(): Command {
  return newCommand('show', 'Show a license, its activations and its manual changes.', [
    ['license show 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d', 'By its id'],
    ['license show - --reveal < key.txt', 'By a key that stays out of the process list'],
  ])
    .addArgument(licenseArgument())
    .option('--reveal', 'show the full key; the audit log records it')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(show);
}

async function show(argument: string, options: ShowOptions): Promise<void> {
  const name = await readLicenseName(argument);
  await withContext(async (context) => {
    const overview = await showLicense(context, name);
    const { license } = overview;
    const access = { action: 'license.reveal', subjectId: license.id, reason: options.reason };
    const key =
      options.reveal === true
        ? revealLicenseKey(context, license, await auditAccess(context, access))
        : null;
    printResult(options, toJson(overview, key), () => toText(overview, key));
  });
}

function toJson(overview: LicenseOverview, key: string | null) {
  return {
    ...(key === null ? {} : { license_key: key }),
    ...toLicenseJson(overview),
    features: overview.terms.features,
    tier: overview.terms.tier,
    moves: {
      made: overview.moves.used,
      limit: overview.moves.limit,
      days: overview.moves.days,
      extra: overview.moves.extra,
    },
    activations: overview.activations.map((activation) => ({
      activation_id: activation.id,
      machine_id: activation.machineId,
      os_version: activation.osVersion,
      app_version: activation.appVersion,
      activated_at: activation.activatedAt,
      last_validated_at: activation.lastValidatedAt,
      validation_count: activation.validationCount,
      is_active: activation.deactivatedAt === null,
    })),
    history: overview.history.map(({ occurredAt, actor, action, reason }) => ({
      occurred_at: occurredAt,
      actor,
      action,
      reason,
    })),
  };
}

function toText(overview: LicenseOverview, key: string | null): string {
  const fields = formatFields([
    ['key', key ?? `…${overview.license.keyHint}`],
    ...toLicenseFields(overview),
    ['moves', describeMoves(overview.moves)],
  ]);
  const tables = [
    formatRows(overview.activations, '', [
      ['activation', (activation) => activation.id],
      ['machine', (activation) => activation.machineId],
      ['active', (activation) => activation.deactivatedAt === null],
      ['last validated', (activation) => activation.lastValidatedAt],
      ['app', (activation) => activation.appVersion],
    ]),
    formatRows(overview.history, '', [
      ['time', (entry) => entry.occurredAt],
      ['actor', (entry) => entry.actor],
      ['action', (entry) => entry.action],
      ['reason', (entry) => entry.reason],
    ]),
  ];
  return [fields, ...tables.filter((table) => table !== '')].join('\n\n');
}

function describeMoves({ used, limit, days, extra }: LicenseMoves): string {
  const more = extra === 0 ? '' : `, ${extra} more allowed`;
  return `${used} of ${limit} in ${days} days${more}`;
}
