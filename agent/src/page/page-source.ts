import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const LIMITS = { timeout: 20_000, maxBuffer: 4 * 1024 * 1024 } as const;

/**
 * Makes the live page from its sources. In a package this file's place is taken by one that reads what was
 * made then (`scripts/package/page.ts`), for the sources are not there.
 * @returns the document
 * @throws Error when the sources cannot be joined
 */
export async function readPageSource(): Promise<string> {
  const builder = fileURLToPath(new URL('./build-page.ts', import.meta.url));
  const options = ['--disable-warning=ExperimentalWarning', builder];
  const { stdout } = await run(process.execPath, options, LIMITS);
  return stdout;
}
