/** As a shell says that a program was ended by a signal. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

type StopSignal = keyof typeof EXIT_CODES;

const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/** Somebody has asked to stop. */
class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super('Stopped as asked.');
    this.name = 'Interrupted';
    this.exitCode = EXIT_CODES[signal];
  }
}

export interface Interruption extends Disposable {
  /** @throws Interrupted once a signal has come */
  readonly check: () => void;
  /** Null as long as none has come. */
  readonly stopped: () => Interrupted | null;
}

function ignore(): void {
  // Whoever read what is printed has gone.
}

/**
 * Takes the signals that ask to stop, also that of a connection that broke: a step comes to its end, then its work is undone.
 * That nobody reads what is printed any more is no reason to end in the middle. Once disposed of, until the process ends, signals
 * are passed over: who presses Ctrl-C at the very end must not be told by an exit code that it was cut off.
 * @param tell says so to the person at the terminal
 */
export function watchInterruption(tell: () => void): Interruption {
  let stopped: Interrupted | null = null;
  let isOver = false;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (isOver) return;
      tell();
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
    },
  };
}
