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
  key_added: 'exist already by a payment; the key works for them, too',
  conflict: 'exist with other values, unchanged',
  duplicate: 'repeat an earlier row',
  weak: 'have a key that can be guessed',
  bad: 'cannot be imported',
  skipped: 'left out',
  unknown_product: 'have a product that is not mapped',
};

/** With the number, a line has at most 80 characters. */
const NOTES: Readonly<Record<keyof ImportReport['notes'], string>> = {
  without_address: 'licenses without an e-mail address, which /my cannot find',
  with_generated_key: 'licenses that get a new key',
  with_unknown_end: 'licenses without an end: the term of the product applies, or 31 days',
  not_usable: 'licenses that are not usable, such as suspended or refunded ones',
  more_devices_than_allowed: 'licenses that used more devices than they allow',
  seats: 'old devices: the first machines take their seats over in 90 days',
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
  const shown = Object.entries(NOTES).flatMap(([name, meaning]) => {
    const count = Object.entries(notes).find(([note]) => note === name)?.[1] ?? 0;
    return count === 0 ? [] : [{ count, meaning }];
  });
  return formatRows(shown, '', [
    ['note', ({ meaning }) => meaning],
    ['number', ({ count }) => count],
  ]);
}

function formatUnknownProducts({ unknown_products: unknown }: ImportReport): string {
  if (unknown.length === 0) return '';
  const table = formatRows(unknown, '', [
    ['unknown product', ({ id }) => id],
    ['name', ({ name }) => name],
    ['rows', ({ rows }) => rows],
    ['similar', ({ suggestion }) => suggestion],
  ]);
  return `${table}\n${describeMapping(unknown)}`;
}

/** Shows the option for the first unknown product. */
function describeMapping([first]: ImportReport['unknown_products']): string {
  const example = `${first?.id ?? 'OLD'}=${first?.suggestion ?? 'PRODUCT'}`;
  return `Map each one, such as --map "${example}", or all with --product.`;
}
