import { Command } from 'commander';
import {
  type LicenseMoves,
  type LicenseOverview,
  revealLicenseKey,
  showLicense,
} from '#server/features/licenses/show.ts';
import { auditAccess } from '../audit-access.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson } from './view.ts';
import { accessReasonOption, jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatFields, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

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
