import { clockMoved } from './clock-moved.ts';
import { clientsCut, databaseConnectionsCut } from './connection-faults.ts';
import { connectionProcessKilled, databaseFrozen, databaseKilled } from './database-processes.ts';
import { descriptorsExhausted } from './descriptors-exhausted.ts';
import { diskFull, diskSlow } from './disk-faults.ts';
import type { Fault } from './fault.ts';
import { neighboursDown } from './neighbours-down.ts';
import { serviceKilled } from './service-killed.ts';
import { workerKilled, workersReplaced } from './worker-faults.ts';

/**
 * Every fault, in the order of a run: the disk is full when machines start, the relay is down when payments arrive. The clock, which
 * takes longest, comes last.
 */
export const ALL_FAULTS: readonly Fault[] = [
  connectionProcessKilled,
  clientsCut,
  workerKilled,
  diskSlow,
  descriptorsExhausted,
  diskFull,
  neighboursDown,
  serviceKilled,
  workersReplaced,
  databaseConnectionsCut,
  databaseFrozen,
  databaseKilled,
  clockMoved,
];
