/** How cases of alerts are written. */

/** Series in the notation of promtool, with a sample at each interval. */
export type Series = Readonly<Record<string, string>>;

/** Further series, for another reason to fire or not to fire. */
interface FurtherCase {
  /** Names the reason in one phrase. */
  readonly when: string;
  readonly series: Series;
  readonly at: string;
  readonly fires: boolean;
}

/** Series with which an alert fires, and others with which it does not. */
export interface AlertCase {
  /** Between samples, and between evaluations of the rules. Default: `1m`. */
  readonly interval?: string;
  readonly fires: Series;
  /** As close to firing as a healthy service comes. */
  readonly silent: Series;
  /** When it fires. Default: `10m`. */
  readonly at?: string;
  /** When the condition holds and it does not fire yet; absent for alerts that do not wait. */
  readonly notYetAt?: string;
  readonly also?: readonly FurtherCase[];
}

/** The labels of a service. */
export const SERVICE = 'job="latchkey",instance="license.example.com:443"';
/** Those of an agent. */
export const AGENT = 'job="latchkey-agent",instance="db-1.example.com:4096"';

/** Names a series of the service. */
export const of = (name: string, labels = ''): string =>
  `${name}{${SERVICE}${labels === '' ? '' : `,${labels}`}}`;

/** Names a bucket of a histogram of the service. */
export const bucket = (name: string, le: string, labels = '') =>
  of(`${name}_bucket`, `${labels}${labels === '' ? '' : ','}le="${le}"`);
