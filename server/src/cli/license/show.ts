/** `latchkey license list` and `show`. */
import type { Context } from '#server/context.ts';
import {
  findOrigin,
  type LicenseOrigin,
} from '#server/features/imports/queries/imported-licenses.ts';
import { listAddedKeyHints } from '#server/features/licenses/queries/added-keys.ts';
import { countFreeSeats } from '#server/features/licenses/queries/imported-seats.ts';
import { LICENSE_STATUSES } from '#server/features/licenses/rules/status.ts';
import {
  type LicenseMoves,
  type LicenseOverview,
  type LicensePage,
  listLicenses,
  revealLicenseKey,
  showLicense,
} from '#server/features/licenses/show.ts';

import { auditAccess } from '../actor.ts';
import { command } from '../command.ts';
import { usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import {
  cursorOption,
  DAY_MS,
  emailAddress,
  limitOption,
  MAX_DAYS,
  timestamp,
  reasonOption,
  shortText,
  wholeNumber,
} from '../options.ts';
import { choice, flag, option } from '../parameters.ts';
import { formatFields, formatHistory, formatRows, joinSections, type Cell } from '../table.ts';
import { contextCommand, withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson } from './view.ts';

export const listCommand = contextCommand({
  name: 'list',
  description: 'List licenses, newest first, without their keys.',
  examples: {
    'license list --email ann@example.com': 'Licenses of a customer',
    'license list --status past_due --product personal': 'Subscriptions with an overdue payment',
    'license list --expiring 30': 'Licenses that expire in the next 30 days',
    'license list --limit 1000 --json': 'As JSON; next_cursor is the --cursor of the next page',
  },
  parameters: [
    option('--email <address>', 'e-mail address of the customer', emailAddress),
    option('--product <id>', 'id of a product in the catalogue', shortText),
    choice('--status <status>', 'only this status', LICENSE_STATUSES),
    option(
      '--expiring <days>',
      'active licenses that expire within this many days',
      wholeNumber(1, MAX_DAYS),
    ),
    option(
      '--expiring-before <time>',
      'active licenses that expire before a date (00:00 UTC) or date-time',
      timestamp,
    ).conflicts('expiring'),
    option('--transaction <id>', 'transaction id of the checkout', shortText),
    cursorOption,
    limitOption(50),
  ],
  async run(context, { cursor: afterId, limit, expiring, ...options }) {
    const { email, product: productId, status, transaction: transactionId } = options;
    const expiringBefore =
      expiring === null
        ? options.expiringBefore
        : new Date(context.clock.now().getTime() + expiring * DAY_MS);
    if (expiringBefore !== null && status !== null && status !== 'active') {
      throw usageError('--expiring lists active licenses only: remove --status.');
    }
    const filter = { email, productId, status, expiringBefore, transactionId };
    const page = await listLicenses(context, filter, { afterId, limit });
    const { nextCursor } = page;
    const details = { count: page.licenses.length };
    await auditAccess(context, { action: 'license.list', subjectId: 'licenses', details });
    return {
      json: { licenses: page.licenses.map(toLicenseJson), next_cursor: nextCursor },
      text: formatPage(page),
      nextCursor,
    };
  },
});

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

export const showCommand = command({
  name: 'show',
  description: 'Show a license, its activations and its manual changes.',
  examples: {
    'license show 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d': 'By its id',
    'license show - --reveal < key.txt': 'By a key that stays out of the process list',
  },
  parameters: [
    licenseArgument,
    flag('--reveal', 'show the full key; the audit log records it'),
    reasonOption,
  ],
  async run({ license: argument, reveal, reason }) {
    const name = await readLicenseName(argument);
    return withContext(async (context) => {
      const overview = await showLicense(context, name);
      const { license } = overview;
      const access = { action: 'license.reveal', subjectId: license.id, reason };
      const key = reveal
        ? revealLicenseKey(context, license, await auditAccess(context, access))
        : null;
      const past = await readPast(context, license.id);
      return { json: toJson(overview, past, key), text: toText(overview, past, key) };
    });
  },
});

/** Where a license comes from, and how many of its old devices still hold seats. */
interface LicensePast {
  /** Null: it was not imported. */
  readonly origin: LicenseOrigin | null;
  readonly freeSeats: number;
  /** The last symbols of the keys that imports added. */
  readonly addedKeyHints: readonly string[];
}

async function readPast({ pool, clock }: Context, licenseId: string): Promise<LicensePast> {
  const origin = await findOrigin(pool, licenseId);
  const freeSeats = origin === null ? 0 : await countFreeSeats(pool, licenseId, clock.now());
  return { origin, freeSeats, addedKeyHints: await listAddedKeyHints(pool, licenseId) };
}

function toJson(
  overview: LicenseOverview,
  { origin, freeSeats, addedKeyHints }: LicensePast,
  key: string | null,
) {
  const { terms, moves, activations, history } = overview;
  const { used: made, limit, days, extra } = moves;
  return {
    ...(key === null ? {} : { license_key: key }),
    ...toLicenseJson(overview),
    features: terms.features,
    tier: terms.tier,
    moves: { made, limit, days, extra },
    origin:
      origin === null
        ? null
        : { source: origin.source, source_id: origin.sourceId, imported_at: origin.importedAt },
    old_devices: freeSeats,
    added_key_hints: addedKeyHints,
    activations: activations.map((activation) => ({
      activation_id: activation.id,
      machine_id: activation.machineId,
      os_version: activation.osVersion,
      app_version: activation.appVersion,
      activated_at: activation.activatedAt,
      last_validated_at: activation.lastValidatedAt,
      validation_count: activation.validationCount,
      is_active: activation.deactivatedAt === null,
    })),
    history: history.map(({ occurredAt, actor, action, reason }) => ({
      occurred_at: occurredAt,
      actor,
      action,
      reason,
    })),
  };
}

function toText(overview: LicenseOverview, past: LicensePast, key: string | null): string {
  return joinSections(
    formatFields([
      ['key', key ?? `…${overview.license.keyHint}`],
      ...toLicenseFields(overview),
      ['moves', describeMoves(overview.moves)],
      ...listPast(past),
    ]),
    formatRows(overview.activations, '', [
      ['activation', (activation) => activation.id],
      ['machine', (activation) => activation.machineId],
      ['active', (activation) => activation.deactivatedAt === null],
      ['last validated', (activation) => activation.lastValidatedAt],
      ['app', (activation) => activation.appVersion],
    ]),
    formatHistory(overview.history),
  );
}

function listPast({ origin, freeSeats, addedKeyHints }: LicensePast): (readonly [string, Cell])[] {
  if (origin === null) return [];
  return [
    ['imported from', origin.source],
    ['imported', origin.importedAt],
    ['id there', origin.sourceId],
    ['old devices', freeSeats],
    ...addedKeyHints.map((hint) => ['key there', `…${hint}`] as const),
  ];
}

function describeMoves({ used, limit, days, extra }: LicenseMoves): string {
  const more = extra === 0 ? '' : `, ${extra} more allowed`;
  return `${used} of ${limit} in ${days} days${more}`;
}
