import type { ConsoleScale } from '../console-data.ts';

/** The size of the benchmark. */
export interface Scale {
  readonly fewActivations: number;
  readonly manyActivations: number;
  readonly secondsPerLoad: number;
  readonly rounds: number;
  /** For each number of connections and each route, in each round. */
  readonly secondsByConnections: number;
  readonly memoryRequests: number;
  /** Purchases in a burst, which must all be answered in time. */
  readonly webhookBurst: number;
  /** Events that COPY reads for comparison. */
  readonly copiedRows: number;
  /** Events and machine-days for reports. */
  readonly reportedEvents: number;
  readonly reportedMachineDays: number;
  /** The database of the console. */
  readonly console: ConsoleScale;
  /** Outreach requests with the maximum number of recipients. */
  readonly outreachRounds: number;
}

/** For published results. */
export const FULL: Scale = {
  fewActivations: 1_000,
  manyActivations: 1_000_000,
  secondsPerLoad: 6,
  rounds: 5,
  secondsByConnections: 3,
  memoryRequests: 1_000_000,
  webhookBurst: 50_000,
  copiedRows: 500_000,
  reportedEvents: 5_000_000,
  reportedMachineDays: 1_000_000,
  console: { licenses: 1_000_000, events: 5_000_000 },
  outreachRounds: 3,
};

/** For a quick check of the benchmark. */
export const QUICK: Scale = {
  fewActivations: 1_000,
  manyActivations: 20_000,
  secondsPerLoad: 2,
  rounds: 1,
  secondsByConnections: 1,
  memoryRequests: 40_000,
  webhookBurst: 5_000,
  copiedRows: 50_000,
  reportedEvents: 100_000,
  reportedMachineDays: 20_000,
  console: { licenses: 50_000, events: 250_000 },
  outreachRounds: 1,
};
