import { isUuid } from '@latchkey/contract';
import { Command, InvalidArgumentError, Option } from 'commander';

import type { Context } from '#server/context.ts';
import {
  type LicensePage,
  listLicenses,
  type LicenseMoves,
  type LicenseOverview,
  revealLicenseKey,
  showLicense,
} from '#server/features/licenses/show.ts';
import type { LicenseFilter } from '#server/features/licenses/queries/license-list.ts';
import { LICENSE_STATUSES, type LicenseStatus } from '#server/features/licenses/rules/status.ts';

import { commandProcess } from '../command-process.ts';
import { auditAccess } from '../actor.ts';
import { usageError } from '../command-error.ts';
import {
  accessReasonOption,
  emailAddress,
  jsonOption,
  limitOption,
  moment,
  shortText,
  wholeNumber,
  withExamples,
} from '../options.ts';
import {
  formatFields,
  formatTable,
  type OutputOptions,
  printNote,
  printResult,
} from '../output.ts';
import { fitTable } from '../table.ts';
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

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = 50;

export function licenseListCommand(): Command {
  const command = new Command('list')
    .description('List licenses, newest first, with hints of their keys.')
    .option('--email <address>', 'of a customer', emailAddress)
    .option('--product <id>', 'of a product, as the catalogue names it', shortText)
    .addOption(new Option('--status <status>', 'in a status').choices(LICENSE_STATUSES))
    .option('--expiring <days>', 'active ones that end within so many days', wholeNumber(1, 36_500))
    .addOption(
      new Option('--expiring-before <date>', 'active ones that end by a date (00:00 UTC) or time')
        .argParser(moment)
        .conflicts('expiring'),
    )
    .option('--transaction <id>', 'of a checkout, by the id that its check knows', shortText)
    .addOption(
      new Option('--cursor <cursor>', 'the next_cursor of the page before').argParser(licenseId),
    )
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [
    ['license list --email ann@example.com', 'What a customer has'],
    ['license list --status past_due --product personal', 'Subscriptions whose payment is late'],
    ['license list --expiring 30', 'What ends in the next 30 days'],
    ['license list --limit 1000 --json', 'For a program; next_cursor is for --cursor'],
  ]);
}

function licenseId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be the next_cursor of the page before.');
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { cursor: afterId = null, limit } = options;
    const page = await listLicenses(ctx, toFilter(ctx, options), { afterId, limit });
    const { nextCursor } = page;
    const details = { count: page.licenses.length };
    await auditAccess(ctx, { action: 'license.list', subjectId: 'licenses', details });
    const result = { licenses: page.licenses.map(toLicenseJson), next_cursor: nextCursor };
    printResult(options, result, () => toTable(page));
    if (nextCursor !== null && options.json !== true) {
      printNote(`There are more: --cursor ${nextCursor}`);
    }
  });
}

function toFilter(ctx: Context, options: ListOptions): LicenseFilter {
  const { email = null, product = null, status = null, transaction = null } = options;
  const { expiring, expiringBefore = null } = options;
  const isExpiring = expiring !== undefined || expiringBefore !== null;
  if (isExpiring && status !== null && status !== 'active') {
    throw usageError('--expiring lists active licenses: leave --status out.');
  }
  const end = expiring === undefined ? null : ctx.clock.now().getTime() + expiring * DAY_MS;
  return {
    email,
    productId: product,
    status,
    expiringBefore: end === null ? expiringBefore : new Date(end),
    transactionId: transaction,
  };
}

function toTable({ licenses }: LicensePage): string {
  if (licenses.length === 0) return 'There is no such license.';
  return fitTable(
    ['license', 'key', 'status', 'expires', 'product', 'customer'],
    licenses.map(({ license, status, expiresAt }) => [
      license.id,
      `…${license.keyHint}`,
      status,
      expiresAt === null ? 'never' : expiresAt.toISOString().slice(0, 10),
      license.productId,
      license.customerEmail ?? license.customerName,
    ]),
    commandProcess().stdout.columns,
  );
}

interface ShowOptions extends OutputOptions {
  readonly reveal?: boolean;
  readonly reason?: string;
}

export function licenseShowCommand(): Command {
  const command = new Command('show')
    .description('Show a license, its machines and what was done to it by hand.')
    .addArgument(licenseArgument())
    .option('--reveal', 'show the key in full; the audit log records it')
    .addOption(accessReasonOption())
    .addOption(jsonOption())
    .action(show);
  return withExamples(command, [
    ['license show 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d', 'By its id'],
    ['license show - --reveal < key.txt', 'By a key that appears in no process list'],
  ]);
}

async function show(argument: string, options: ShowOptions): Promise<void> {
  const name = await readLicenseName(argument);
  await withContext(async (ctx) => {
    const overview = await showLicense(ctx, name);
    const { license } = overview;
    const access = { action: 'license.reveal', subjectId: license.id, reason: options.reason };
    const key =
      options.reveal === true
        ? revealLicenseKey(ctx, license, await auditAccess(ctx, access))
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
      made: overview.moves.made,
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
  const fields = toLicenseFields(overview).map((field) =>
    field[0] === 'key' && key !== null ? (['key', key] as const) : field,
  );
  const machines = overview.activations.map((activation) => [
    activation.id,
    activation.machineId,
    activation.deactivatedAt === null,
    activation.lastValidatedAt,
    activation.appVersion,
  ]);
  const history = overview.history.map((entry) => [
    entry.occurredAt,
    entry.actor,
    entry.action,
    entry.reason,
  ]);
  return [
    formatFields([...fields, ['moves', describeMoves(overview.moves)]]),
    formatSection(['activation', 'machine', 'active', 'last validated', 'app'], machines),
    formatSection(['when', 'who', 'what', 'why'], history),
  ].join('');
}

function describeMoves({ made, limit, days, extra }: LicenseMoves): string {
  const more = extra === 0 ? '' : `, ${extra} more allowed`;
  return `${made} of ${limit} in ${days} days${more}`;
}

function formatSection(...table: Parameters<typeof formatTable>): string {
  return table[1].length === 0 ? '' : `\n\n${formatTable(...table)}`;
}
