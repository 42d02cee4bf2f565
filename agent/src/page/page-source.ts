import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const LIMITS = { timeout: 20_000, maxBuffer: 4 * 1024 * 1024 } as const;

/** The live page of this machine, and the page that watches many machines. */
export type PageName = 'fleet' | 'live';

/**
 * Builds a page from its sources. The packager replaces this module with one that reads the built pages
 * (`scripts/package/page.ts`).
 * @returns the document
 * @throws Error when the build fails
 */
export async function readPageSource(name: PageName): Promise<string> {
  const builder = fileURLToPath(new URL('./build-page.ts', import.meta.url));
  const options = ['--disable-warning=ExperimentalWarning', builder, name];
  const { stdout } = await run(process.execPath, options, LIMITS);
  return stdout;
}
