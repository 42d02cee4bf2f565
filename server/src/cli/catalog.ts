/** `latchkey catalog`: the products on sale. */
import {
  applyCatalogToSold,
  type ChangedLicense,
} from '#server/features/billing/apply-catalog-to-sold.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { usageError } from './command-error.ts';
import { shortText } from './options.ts';
import { flag, option } from './parameters.ts';
import { formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const applyCommand = contextCommand({
  name: 'apply-to-sold',
  description:
    'Give sold licenses the products, machines and terms that the catalog has now for their prices. Without this command a changed catalog applies to new sales only.',
  examples: {
    'catalog apply-to-sold --dry-run': 'Show which licenses would change',
    'catalog apply-to-sold --reason "three machines for everybody"': 'Change them',
  },
  parameters: [
    flag('--dry-run', 'show the changes without making them'),
    option('--reason <text>', 'reason for the audit log; required without --dry-run', shortText),
  ],
  async run(context, { dryRun, reason }) {
    if (!dryRun && reason === null) throw usageError('Name a --reason, or use --dry-run.');
    const changes: ChangedLicense[] = [];
    const change = { actor: currentActor(), reason: reason ?? 'dry run', dryRun };
    await applyCatalogToSold(context, change, (license) => changes.push(license));
    const verb = dryRun ? 'Would change' : 'Changed';
    const table = formatRows(changes, '', [
      ['license', ({ after }) => after.id],
      ['product', (each) => describe(each, ({ productId }) => productId)],
      ['machines', (each) => describe(each, ({ maxActivations }) => String(maxActivations))],
      ['ends', (each) => describe(each, ({ expiresAt }) => describeEnd(expiresAt, 'never'))],
      [
        'updates until',
        (each) => describe(each, (license) => describeEnd(license.updatesUntil, 'all')),
      ],
    ]);
    return {
      json: { dry_run: dryRun, licenses: changes.map(toJson) },
      text: `${table}${table === '' ? '' : '\n'}${verb} ${countOf(changes.length, 'license')}.`,
    };
  },
});

type License = ChangedLicense['after'];

function describe({ before, after }: ChangedLicense, read: (license: License) => string): string {
  const [old, now] = [read(before), read(after)];
  return old === now ? now : `${old} → ${now}`;
}

function describeEnd(end: Date | null, never: string): string {
  return end?.toISOString().slice(0, 10) ?? never;
}

function toJson({ before, after }: ChangedLicense) {
  return { license_id: after.id, before: view(before), after: view(after) };
}

function view({ productId, maxActivations, expiresAt, updatesUntil }: License) {
  return {
    product: productId,
    max_activations: maxActivations,
    expires_at: expiresAt,
    updates_until: updatesUntil,
  };
}

export const catalogCommand = commandGroup(
  'catalog',
  'Apply a changed catalog to licenses that were sold.',
  [applyCommand],
);
