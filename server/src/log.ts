import { pino, stdTimeFunctions } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { LogLevel } from './config/env-values.ts';
import { formatForTerminal } from './log-terminal.ts';
import { hiddenFields, scrub } from './log-scrub.ts';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly level: LogLevel;
  /** The number of this worker, a field of each line. Default: this process is no worker. */
  readonly worker?: number;
  /** Receives the lines. Default: standard output, as JSON or, on a terminal, as text. */
  readonly destination?: DestinationStream;
}

/**
 * Creates the log: one JSON object per line, with the time in UTC, or text on a terminal. No line contains keys, addresses,
 * fingerprints or secrets: see `scrub`.
 */
export function createLog({ level, worker, destination = standardOutput() }: LogOptions): Logger {
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
      redact: { paths: hiddenFields, censor: '[hidden]' },
      hooks: { streamWrite: scrub },
    },
    destination,
  );
}

/** Whether a person reads standard output: it is a terminal, and `NODE_ENV` is not production. */
export function isReadByPeople(): boolean {
  return process.stdout.isTTY && process.env['NODE_ENV'] !== 'production';
}

function standardOutput(): DestinationStream {
  if (!isReadByPeople()) return pino.destination({ dest: 1, sync: true });
  const colours = process.stdout.hasColors();
  return {
    write: (line) => {
      process.stdout.write(formatForTerminal(line, colours));
    },
  };
}

const MAX_CAUSES = 5;

/**
 * Serializes an error: class, message, code, stack and its causes. Other properties are omitted: PostgreSQL's `detail` and
 * `where` quote the values of a row.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors.slice(0, 5) : [];
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined || depth >= MAX_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
    ...(inner.length === 0 || depth >= MAX_CAUSES
      ? {}
      : { errors: inner.map((each) => describeError(each, depth + 1)) }),
  };
}
