/** Somebody has asked to stop. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('Stopped as asked.');
    this.name = 'Interrupted';
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

export interface Interruption extends Disposable {
  /** @throws Interrupted once a signal has come */
  readonly check: () => void;
  /** Null as long as none has come. */
  readonly stopped: () => Interrupted | null;
}

/**
 * Takes the signals that ask to stop: a step comes to its end, then its work is undone.
 * @param tell says so to the person at the terminal
 */
export function watchInterruption(tell: (sentence: string) => void): Interruption {
  let stopped: Interrupted | null = null;
  const stop = (signal: NodeJS.Signals) => {
    tell('Stopping: what was done is undone, which must not be interrupted.');
    stopped ??= new Interrupted(signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return {
    check() {
      if (stopped !== null) throw stopped;
    },
    stopped: () => stopped,
    [Symbol.dispose]() {
      process.off('SIGINT', stop).off('SIGTERM', stop);
    },
  };
}
