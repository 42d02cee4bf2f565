import type { BillingCycle, BillingLine, CustomerDetails } from '../../facts.ts';
import { readText } from '../json-fields.ts';
import { readEmail } from '../read-email.ts';
import type { Customer, Cycle, Line } from './schemas.ts';

/** A value that is well formed and that this version does not know. */
export class UnknownValue {
  readonly sentence: string;

  constructor(field: string, known: readonly string[]) {
    this.sentence = `The ${field} is not one of ${known.join(', ')}.`;
  }
}

const INTERVALS = ['day', 'week', 'month', 'year'] as const;

/** Reads who buys; an empty text says nothing. */
export function readCustomer(customer: Customer | null | undefined): CustomerDetails {
  return {
    email: readEmail(customer?.email),
    name: readText(customer?.name),
    locale: readText(customer?.locale, 35),
  };
}

/** Reads the positions, or says that one of them is paid in a rhythm that is not known. */
export function readLines(lines: readonly Line[] | null | undefined): BillingLine[] | UnknownValue {
  const read: BillingLine[] = [];
  for (const line of lines ?? []) {
    const cycle = line.cycle == null ? null : readCycle(line.cycle);
    if (cycle instanceof UnknownValue) return cycle;
    read.push({
      lineId: line.id ?? line.price_id,
      priceId: line.price_id,
      quantity: line.quantity ?? 1,
      cycle,
      total: line.total ?? null,
    });
  }
  return read;
}

/** Finds a value in the list of those that are known. */
export function readKnown<Known extends string>(
  value: string,
  known: readonly Known[],
  field: string,
): Known | UnknownValue {
  return known.find((each) => each === value) ?? new UnknownValue(field, known);
}

function readCycle(cycle: Cycle): BillingCycle | UnknownValue {
  const interval = readKnown(cycle.interval, INTERVALS, 'interval');
  if (interval instanceof UnknownValue) return interval;
  return { interval, frequency: cycle.frequency ?? 1 };
}
