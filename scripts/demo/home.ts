/** The directory of a demo, with its settings in a .env file. None come from the environment of the caller. */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { UsageError, type DemoOptions } from './options.ts';

export interface DemoHome {
  readonly directory: string;
  /** Whether this demo or an earlier one filled it. */
  readonly isFilled: boolean;
  /** The secret of the one-time codes of one operator; null before it is filled. */
  readonly totpSecret: string | null;
  markFilled(totpSecret: string): Promise<void>;
  /** Removes a temporary directory. */
  remove(): Promise<void>;
}

const CATALOG = fileURLToPath(new URL('./catalog.yaml', import.meta.url));

/**
 * Shows that a directory belongs to a demo. Once the demo is complete, its lines are the secret of one-time codes and the version
 * of the schema.
 */
const MARK = 'demo';

const MIGRATIONS = fileURLToPath(new URL('../../server/src/db/migrations/', import.meta.url));

/** Never used outside of a demo, so they may be known. */
const SECRETS = {
  LATCHKEY_BILLING_SECRETS: 'pdl_ntfset_of_the_demo_alone',
  LATCHKEY_STRIPE_SECRETS: 'whsec_of_the_demo_alone',
  LATCHKEY_LEMON_SQUEEZY_SECRETS: 'lemon squeezy of the demo alone',
  LATCHKEY_STANDARD_WEBHOOKS_SECRETS: `whsec_${Buffer.from('own shop of the demo alone').toString('base64')}`,
};

/**
 * Creates the directory, or opens that of an earlier demo.
 * @throws UsageError for a directory that holds anything else, or a demo whose database has another schema
 */
export async function openHome({ keep, port }: DemoOptions, relayPort: number): Promise<DemoHome> {
  const directory = await openDirectory(keep);
  const mark = join(directory, MARK);
  const schema = await readSchemaVersion();
  const [filledSecret = '', filledSchema] = (await readFile(mark, 'utf8')).trim().split('\n');
  let totpSecret = filledSecret;
  if (totpSecret !== '' && filledSchema !== schema) {
    throw new UsageError(
      `${directory} holds the demo of another version of Latchkey: remove it, or choose another directory.`,
    );
  }
  await writeFile(join(directory, '.env'), writeSettings(directory, port, relayPort));
  // An earlier demo that did not become complete is filled again.
  if (totpSecret === '') await rm(join(directory, 'data'), { recursive: true, force: true });
  return {
    directory,
    get isFilled() {
      return totpSecret !== '';
    },
    get totpSecret() {
      return totpSecret === '' ? null : totpSecret;
    },
    markFilled: async (secret) => {
      totpSecret = secret;
      await writeFile(mark, `${secret}\n${schema}\n`);
    },
    remove: async () => {
      if (keep !== null) return;
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** Returns a hash of the migrations. */
async function readSchemaVersion(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(MIGRATIONS)).sort()) {
    hash.update(await readFile(join(MIGRATIONS, name)));
  }
  return hash.digest('hex');
}

async function openDirectory(keep: string | null): Promise<string> {
  const directory = keep === null ? await mkdtemp(join(tmpdir(), 'latchkey-demo-')) : resolve(keep);
  await mkdir(directory, { recursive: true });
  // PostgreSQL runs under an account of its own if root starts it.
  if (keep === null) await chmod(directory, 0o755);
  const entries = await readdir(directory);
  if (entries.length === 0) await writeFile(join(directory, MARK), '');
  else if (!entries.includes(MARK)) {
    throw new UsageError(`${directory} is not empty and belongs to no demo: choose another one.`);
  }
  return directory;
}

/** The command line reads the file too, when it runs in the directory. */
function writeSettings(directory: string, port: number, relayPort: number): string {
  const settings = {
    ...SECRETS,
    LATCHKEY_HOST: '127.0.0.1',
    LATCHKEY_PORT: String(port),
    LATCHKEY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    LATCHKEY_DATA_DIR: join(directory, 'data'),
    LATCHKEY_CATALOG: CATALOG,
    LATCHKEY_SMTP_URL: `smtp://127.0.0.1:${relayPort}`,
    LATCHKEY_MAIL_FROM: 'Contour Drawing <licenses@contour.example>',
    LATCHKEY_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    LATCHKEY_LOG_LEVEL: 'warn',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}="${value}"\n`)
    .join('');
}

/** Settings that would name a real installation. */
const FOREIGN = /^(?:LATCHKEY_(?!TEST_)|DATABASE_URL|REDIS_URL)/;

/** Returns the variables of the environment that a real installation might have set. */
export function findForeignSettings(environment: NodeJS.ProcessEnv): string[] {
  return Object.keys(environment)
    .filter((name) => FOREIGN.test(name))
    .sort();
}
