import type { Pool } from 'pg';

import type { Allowance } from '../expectations/expectations.ts';
import type { HttpClient } from '../load/http-client.ts';
import type { Disk } from '../service/disk.ts';
import type { Provider } from '../service/provider.ts';
import type { Relay } from '../service/relay.ts';
import type { Service } from '../service/service.ts';

/** What faults act on. */
export interface FaultTarget {
  readonly service: Service;
  readonly client: HttpClient;
  readonly relay: Relay;
  readonly provider: Provider;
  readonly pool: Pool;
  readonly disk: Disk;
  /** Of the run; accounts other than root can read it. */
  readonly home: string;
  readonly dataDirectory: string;
  readonly workers: number | null;
  /** How long the cause of a fault lasts. */
  readonly holdMs: number;
}

/** A failure that is caused on purpose. */
export interface Fault extends Allowance {
  /** What it does, as a sentence. */
  readonly effect: string;
  /**
   * How often it interrupts the jobs in progress before their outcome is stored; they run again, and may send an e-mail twice.
   * Default: never.
   */
  readonly countInterruptions?: (target: FaultTarget) => number;
  /** Why it cannot be caused here, as a clause; null: it can. */
  findObstacle(target: FaultTarget): Promise<string | null>;
  /** Begins the cause, and ends it after a time. */
  cause(target: FaultTarget): Promise<void>;
  /** What an operator or a supervisor does then; default: nothing. */
  repair?(target: FaultTarget): Promise<void>;
}

/** For faults that can be caused everywhere. */
export async function noObstacle(): Promise<null> {
  return null;
}

/** For faults that need /proc or Linux's signals. */
export async function needsLinux(): Promise<string | null> {
  return process.platform === 'linux' ? null : 'it needs Linux';
}

/** For faults that interrupt jobs once. */
export const once = (): number => 1;
