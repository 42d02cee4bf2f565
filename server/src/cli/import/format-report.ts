/** The report of an import on a terminal. */
import {
  FAILED_OUTCOMES,
  type ImportReport,
  type RowOutcome,
} from '#server/features/imports/rules/report.ts';
import { countOf } from '#server/lib/text.ts';

import { formatRows } from '../table.ts';

const MEANINGS: Readonly<Record<RowOutcome, string>> = {
  new: 'created',
  renewed: 'imported before, extended to a later end',
  same: 'exist already, unchanged',
  conflict: 'exist with other values, unchanged',
  duplicate: 'repeat an earlier row',
  weak: 'have a key that can be guessed',
  bad: 'cannot be imported',
  skipped: 'left out',
  unknown_product: 'have a product that is not mapped',
};

const NOTES: Readonly<Record<keyof ImportReport['notes'], string>> = {
  without_address: 'have no e-mail address: these customers cannot get their keys again on /my',
  with_generated_key: 'get a new key',
  with_unknown_end:
    'have no end in the source: the term of the product, or 31 days of a subscription, applies',
  not_usable: 'are suspended, refunded, revoked, disputed, canceled or paused',
  more_devices_than_allowed: 'used more devices than they allow',
  seats: 'devices of the previous system: the first machines take them over within 90 days',
};

/** Whether rows need a decision of the operator. */
export function hasFailures({ outcomes }: ImportReport): boolean {
  return FAILED_OUTCOMES.some((outcome) => outcomes[outcome] > 0);
}

/** Formats a report: counts, products, facts that need a look, and products that are not mapped. */
export function formatReport(report: ImportReport, dryRun: boolean): string {
  const sections = [
    `${dryRun ? 'Would import' : 'Imported'} ${countOf(report.outcomes.new, 'license')} of ${countOf(report.rows, 'row')} from ${report.source}.`,
    formatOutcomes(report),
    formatProducts(report),
    formatNotes(report),
    formatUnknownProducts(report),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function formatOutcomes({ outcomes }: ImportReport): string {
  const shown = Object.entries(MEANINGS).flatMap(([name, meaning]) => {
    const count = Object.entries(outcomes).find(([outcome]) => outcome === name)?.[1] ?? 0;
    return count === 0 ? [] : [{ name, count, meaning }];
  });
  return formatRows(shown, '', [
    ['outcome', ({ name }) => name],
    ['rows', ({ count }) => count],
    ['meaning', ({ meaning }) => meaning],
  ]);
}

function formatProducts({ products }: ImportReport): string {
  return formatRows(Object.entries(products), '', [
    ['product', ([product]) => product],
    ['new licenses', ([, count]) => count],
  ]);
}

function formatNotes({ notes }: ImportReport): string {
  const lines = Object.entries(NOTES).flatMap(([name, meaning]) => {
    const count = Object.entries(notes).find(([note]) => note === name)?.[1] ?? 0;
    return count === 0 ? [] : [`${count} ${meaning}.`];
  });
  return lines.join('\n');
}

function formatUnknownProducts({ unknown_products: unknown }: ImportReport): string {
  const table = formatRows(unknown, '', [
    ['unknown product', ({ id }) => id],
    ['name', ({ name }) => name],
    ['rows', ({ rows }) => rows],
    [
      'suggestion',
      ({ id, suggestion }) => (suggestion === null ? null : `--map "${id}=${suggestion}"`),
    ],
  ]);
  return table;
}
