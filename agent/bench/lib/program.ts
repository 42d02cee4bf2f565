import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A measured program. */
export interface Program extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** Requests its metrics once, as a viewer does each second. */
  query(): Promise<void>;
}

/** The program, and how its metrics are requested. */
export interface ProgramPlan {
  readonly name: string;
  readonly command: readonly string[];
  readonly query: () => Promise<void>;
}

const START_DEADLINE_MS = 20_000;
const RETRY_MS = 200;

/**
 * Starts a program and waits until it returns metrics.
 * @throws Error when it ends at once, or returns none within twenty seconds
 */
export async function startProgram({ name, command, query }: ProgramPlan): Promise<Program> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: 'ignore' });
  const kill = (): void => void child.kill();
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await end(child);
  };
  try {
    await untilAnswered(child, name, query);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, pid: child.pid ?? Number.NaN, query, [Symbol.asyncDispose]: stop };
}

async function untilAnswered(
  child: ChildProcess,
  name: string,
  query: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const problem = await query().catch((error: unknown) => error);
    // Another program on the port may have answered.
    if (child.exitCode !== null) throw new Error(`${name} ended at its start.`, { cause: problem });
    if (problem === undefined) return;
    if (Date.now() > deadline) throw new Error(`${name} returned no metrics.`, { cause: problem });
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
