import { statSync } from 'node:fs';

/** A look at the times of a few files takes microseconds; being told of changes fails with links that move. */
const INTERVAL_MS = 5_000;

/**
 * Looks whether files have changed, and tells when they have and are at rest again, so that a certificate is not
 * read before its key is there.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  intervalMs = INTERVAL_MS,
): Disposable {
  let told = signatureOf(paths);
  let last = told;
  const timer = setInterval(() => {
    const now = signatureOf(paths);
    const isAtRest = now === last;
    last = now;
    if (!isAtRest || now === told) return;
    told = now;
    onChange();
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function signatureOf(paths: readonly string[]): string {
  return paths.map(describeFile).join('\n');
}

/** The time of change also moves when rights are mended, or a copy keeps the time of its original. */
function describeFile(path: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(path);
    return `${ino} ${size} ${ctimeMs}`;
  } catch (error) {
    // Not there, or hidden by the rights of a directory: who reads it says what is wrong.
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
