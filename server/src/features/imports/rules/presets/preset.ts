import type { ForeignDevice, ForeignLicense } from '../../facts.ts';
import type { SourceRecord } from '../read-values.ts';

/** The records that belong to licenses of a source: their devices, customers and orders. */
export interface RelatedRecords {
  /** The devices of a license, by its id. */
  readonly devicesOf: (owner: string) => readonly ForeignDevice[];
  /** The values that a customer, an order or a subscription adds to its licenses, by their kind and id. */
  readonly valuesOf: (owner: string) => Partial<ForeignLicense>;
}

/** What a related record says. */
export type RelatedFact =
  | { readonly kind: 'device'; readonly owner: string; readonly device: ForeignDevice }
  | {
      readonly kind: 'values';
      readonly owner: string;
      readonly values: Partial<ForeignLicense>;
    };

/** What a record is: a license, or one that is left out with a reason. Null: no license. */
export type ReadRecord = { readonly license: ForeignLicense } | { readonly skipped: string } | null;

/** How the records of a source become licenses. */
export interface Preset {
  /** A table must have these columns; null: the source exports no tables. */
  readonly columns: readonly string[] | null;
  /** Converts a record. @throws RecordProblem */
  readonly read: (record: SourceRecord, related: RelatedRecords) => ReadRecord;
  /** Reads what a record of the same or of a related file says about licenses. */
  readonly relate: (record: SourceRecord) => RelatedFact | null;
}

/** For sources without related records. */
export function relatesNothing(): null {
  return null;
}
