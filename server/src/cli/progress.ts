/** How often the line is written anew at most. */
const REDRAW_INTERVAL_MS = 100;

const CLEAR_LINE = '\r\u001B[K';

/**
 * Does a long work and shows how far it is, on one line of standard error that is wiped when the work ends or fails.
 * Nothing is shown when that is no terminal.
 * @param noun what is counted, in the plural
 * @param work reports how much is done with the function that it is given
 */
export async function withProgress<Result>(
  noun: string,
  work: (report: (done: number) => void) => Promise<Result>,
  terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Promise<Result> {
  let nextAt = 0;
  const report = (done: number): void => {
    const now = performance.now();
    if (!terminal.isTTY || now < nextAt) return;
    nextAt = now + REDRAW_INTERVAL_MS;
    terminal.write(`\r${done} ${noun}…`);
  };
  try {
    return await work(report);
  } finally {
    if (terminal.isTTY) terminal.write(CLEAR_LINE);
  }
}
