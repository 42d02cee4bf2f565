/** `latchkey imports`: licenses that came from other systems. */
import { isUuid } from '@latchkey/contract';
import { InvalidArgumentError } from 'commander';

import type { ImportRecord, ListedImport } from '#server/features/imports/queries/imports.ts';
import { listAllImports, showImport } from '#server/features/imports/show-imports.ts';
import {
  undoImport,
  type KeptLicense,
  type UndoResult,
} from '#server/features/imports/undo-import.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { failed } from './command-error.ts';
import { commandGroup } from './command.ts';
import { commandProcess } from './command-process.ts';
import { cursorOption, limitOption, reasonOption } from './options.ts';
import { argument, flag } from './parameters.ts';
import { formatFields, formatRows } from './table.ts';
import { contextCommand } from './with-context.ts';

const idArgument = argument('<id>', 'id of the import', (text: string) => {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the id of an import, from latchkey imports list.');
});

const listCommand = contextCommand({
  name: 'list',
  description: 'List imports, newest first.',
  examples: { 'imports list': 'Show the newest imports' },
  parameters: [limitOption(20), cursorOption],
  async run(context, { limit, cursor }) {
    const { imports, nextCursor } = await listAllImports(context, cursor, limit);
    return {
      json: { items: imports.map(toJson), next_cursor: nextCursor },
      text: formatList(imports),
      nextCursor,
    };
  },
});

/** The id is needed whole; origin, actor and time are shown with the import. At most 88 characters wide. */
function formatList(imports: readonly ListedImport[]): string {
  return formatRows(
    imports,
    'No imports.',
    [
      ['id', ({ id }) => id],
      ['started', ({ startedAt }) => startedAt.toISOString().slice(0, 10)],
      ['source', ({ source }) => source],
      ['licenses', ({ created }) => created],
      ['state', stateOf],
    ],
    commandProcess().stdout.columns,
  );
}

const showCommand = contextCommand({
  name: 'show',
  description: 'Show an import: its report, its licenses, and what happened to them since.',
  examples: { 'imports show 0190f6a2-7c1e-7d3a-9b2f-1a2b3c4d5e6f --limit 100': 'Show an import' },
  parameters: [idArgument, limitOption(20)],
  async run(context, { id, limit }) {
    const shown = await showImport(context, id, limit);
    if (shown === null) throw unknownImport();
    const { record, licenses, hasMore } = shown;
    const table = formatRows(licenses, 'No licenses.', [
      ['id in the source', ({ sourceId }) => sourceId],
      ['license', ({ licenseId }) => licenseId],
      ['key', ({ keyHint }) => (keyHint === null ? null : `…${keyHint}`)],
      ['product', ({ productId }) => productId],
      ['state', ({ state }) => state],
    ]);
    return {
      json: {
        ...toJson(record),
        report: record.report,
        licenses: licenses.map((license) => ({
          source_id: license.sourceId,
          license_id: license.licenseId,
          product: license.productId,
          state: license.state,
        })),
        has_more: hasMore,
      },
      text: `${formatFields(toFields(record))}\n\n${table}`,
      note: hasMore ? 'It has more licenses: see --limit.' : null,
    };
  },
});

const undoCommand = contextCommand({
  name: 'undo',
  description:
    'Remove the licenses of an import that nothing happened to since, and the keys and later ends that it added. Licenses that were activated, paid or changed stay as they are, and are listed.',
  examples: {
    'imports undo 0190f6a2-7c1e-7d3a-9b2f-1a2b3c4d5e6f --dry-run': 'Show what would be removed',
    'imports undo 0190f6a2-7c1e-7d3a-9b2f-1a2b3c4d5e6f --reason "wrong file"': 'Remove them',
  },
  parameters: [idArgument, flag('--dry-run', 'report without removing anything'), reasonOption],
  async run(context, { id, dryRun, reason }) {
    const kept: KeptLicense[] = [];
    const request = { importId: id, actor: currentActor(), reason, dryRun };
    const result = await undoImport(context, request, (license) => {
      if (kept.length < MAX_LISTED) kept.push(license);
    });
    if (result === null) throw unknownImport();
    return {
      json: {
        import_id: id,
        dry_run: dryRun,
        ...result,
        kept_licenses: kept.map(({ licenseId, sourceId, state }) => ({
          license_id: licenseId,
          source_id: sourceId,
          state,
        })),
      },
      text: formatUndo(result, kept, dryRun),
    };
  },
});

/** Licenses that stay and are listed; further ones are only counted. */
const MAX_LISTED = 100;

function formatUndo(result: UndoResult, kept: readonly KeptLicense[], dryRun: boolean): string {
  const { removed, released, restored } = result;
  const { activated, paid, changed } = result.kept;
  const table = formatRows(kept, '', [
    ['license that stays', ({ licenseId }) => licenseId],
    ['id in the source', ({ sourceId }) => sourceId],
    ['because it was', ({ state }) => state],
  ]);
  const verb = dryRun ? 'Would remove' : 'Removed';
  const summary = `${verb} ${countOf(removed, 'license')}; ${activated + paid + changed} stay: ${activated} activated, ${paid} paid, ${changed} changed.`;
  const before = released === 0 ? '' : ` ${released} existed before the import and are as before.`;
  const ends = dryRun ? 'would be restored' : 'restored';
  const extended = restored === 0 ? '' : ` ${countOf(restored, 'earlier end')} ${ends}.`;
  return `${table}${table === '' ? '' : '\n'}${summary}${before}${extended}`;
}

function toJson(record: ImportRecord | ListedImport) {
  return {
    import_id: record.id,
    source: record.source,
    origin: record.origin,
    actor: record.actor,
    reason: record.reason,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    undone_at: record.undoneAt,
    ...('created' in record ? { licenses: record.created } : {}),
  };
}

function toFields(record: ImportRecord) {
  return [
    ['id', record.id],
    ['source', record.source],
    ['origin', record.origin],
    ['actor', record.actor],
    ['reason', record.reason],
    ['started', record.startedAt],
    ['state', stateOf(record)],
  ] as const;
}

function stateOf({ finishedAt, undoneAt }: ImportRecord): string {
  if (undoneAt !== null) return 'undone';
  return finishedAt === null ? 'unfinished' : 'finished';
}

function unknownImport() {
  return failed('There is no such import: see latchkey imports list.');
}

export const importsCommand = commandGroup('imports', 'List imports of licenses, and undo them.', [
  listCommand,
  showCommand,
  undoCommand,
]);
