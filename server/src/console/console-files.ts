/** The files of the console: bundled at the first visit of a clone, ready-made in a package. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

const Encoded = Type.Object({
  document: Type.String(),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      body: Type.String(),
      gzip: Type.String(),
      brotli: Type.String(),
    }),
  ),
});

/** A file with its encodings. */
export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

/** The console: about 300 kB. */
export interface ConsoleFiles {
  /** The document of every page. */
  readonly document: string;
  /** By name. A name contains a hash of the content. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** What `npm run build:console` stores for a package, which has no bundler. */
const READY_MADE = new URL('../../../console/dist/console.json', import.meta.url);

const PRINT_BUNDLE = new URL('../../../console/build/print-bundle.ts', import.meta.url);

const LIMITS = { timeout: 60_000, maxBuffer: 8 * 1024 * 1024 } as const;

let console: Promise<ConsoleFiles> | null = null;

/**
 * Returns the files of the console, which stay in memory.
 * @throws Error when they cannot be bundled; the next call tries again
 */
export async function openConsole(): Promise<ConsoleFiles> {
  console ??= readConsole();
  try {
    return await console;
  } catch (error) {
    console = null;
    throw error;
  }
}

async function readConsole(): Promise<ConsoleFiles> {
  const text = hasBundler() ? await bundle() : await readFile(READY_MADE, 'utf8');
  return decode(Parse(Encoded, JSON.parse(text)));
}

/** A ready-made console of a clone may be older than its sources, so that the bundler precedes it. */
function hasBundler(): boolean {
  // A package contains no sources, but programs installed beside it may depend on a bundler.
  if (!existsSync(PRINT_BUNDLE)) return false;
  try {
    import.meta.resolve('rolldown');
    return true;
  } catch {
    // Not installed.
    return false;
  }
}

/** In a process of its own, because the bundler needs 165 MB. */
async function bundle(): Promise<string> {
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(PRINT_BUNDLE)];
  const { stdout } = await promisify(execFile)(process.execPath, args, LIMITS);
  return stdout;
}

function decode({ document, files }: Static<typeof Encoded>): ConsoleFiles {
  const decoded = files.map(({ name, type, body, gzip, brotli }): [string, ConsoleFile] => [
    name,
    {
      type,
      body: Buffer.from(body, 'base64'),
      gzip: Buffer.from(gzip, 'base64'),
      brotli: Buffer.from(brotli, 'base64'),
    },
  ]);
  return { document, files: new Map(decoded) };
}
