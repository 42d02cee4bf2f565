/** The exit codes of a shell for a program that a signal ended. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

type StopSignal = keyof typeof EXIT_CODES;

const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/** A stop signal was received. */
class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super('Stopped by a signal.');
    this.name = 'Interrupted';
    this.exitCode = EXIT_CODES[signal];
  }
}

export interface Interruption extends Disposable {
  /**
   * @throws Interrupted after a stop signal
   */
  readonly check: () => void;
  /** Null before a stop signal. */
  readonly stopped: () => Interrupted | null;
}

function ignore(): void {
  // A closed output is no reason to stop.
}

/**
 * Handles stop signals, including that of a lost connection: the current step ends, then the run is undone. A closed output
 * does not stop a run. After disposal signals are ignored until the process ends: Ctrl-C at the very end must not change the
 * exit code.
 * @param onSignal notifies the user
 */
export function watchInterruption(onSignal: () => void): Interruption {
  let stopped: Interrupted | null = null;
  let isOver = false;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (isOver) return;
      onSignal();
      stopped ??= new Interrupted(signal);
    });
  }
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore);
  return {
    check() {
      if (stopped !== null) throw stopped;
    },
    stopped: () => stopped,
    [Symbol.dispose]() {
      isOver = true;
      // At the end of a process, Node.js restores the default action of signals before it ends; exit() ends without that.
      process.once('beforeExit', () => process.exit());
    },
  };
}
