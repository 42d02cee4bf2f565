import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const LIMITS = { timeout: 20_000, maxBuffer: 4 * 1024 * 1024 } as const;

/**
 * Builds the live page from its sources. The packager replaces this module with one that reads the built page
 * (`scripts/package/page.ts`).
 * @returns the document
 * @throws Error when the build fails
 */
export async function readPageSource(): Promise<string> {
  const builder = fileURLToPath(new URL('./build-page.ts', import.meta.url));
  const options = ['--disable-warning=ExperimentalWarning', builder];
  const { stdout } = await run(process.execPath, options, LIMITS);
  return stdout;
}
