/** Runs the commands of docs/moving.md: on the published formats of each source, and against stand-ins for the APIs. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { runLatchkey, type CommandRun } from '../server/test/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../server/test/database.ts';
import {
  answerFastSpring,
  answerLemonSqueezy,
  answerPaddle,
  answerPolar,
  answerStripe,
} from '../server/test/payment-providers/api-stand-ins.ts';
import { fastSpringSubscription } from '../server/test/payment-providers/fastspring-events.ts';
import { lemonSqueezySubscription } from '../server/test/payment-providers/lemon-squeezy-events.ts';
import {
  startPaddleApiStub,
  type StubAnswer,
} from '../server/test/payment-providers/paddle-api-stub.ts';
import { paddleSubscription } from '../server/test/payment-providers/paddle-events.ts';
import {
  POLAR_SUBSCRIPTION,
  polarSubscription,
} from '../server/test/payment-providers/polar-events.ts';
import { stripeSubscription } from '../server/test/payment-providers/stripe-events.ts';
import { repository } from './lib/steps.ts';

const document = readFileSync(join(repository, 'docs/moving.md'), 'utf8');

/** The commands of the page, as arguments of `latchkey`. */
const commands = [...document.matchAll(/^ *```sh\n *npx latchkey (.*?)\n *```$/gms)].map(
  ([, command = '']) => splitArguments(command),
);

function splitArguments(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

const KEY = 'rk_live_key_of_the_account';
const authorization = `Bearer ${KEY}`;

/** Accounts with one subscription. */
const APIS: Readonly<Record<string, StubAnswer>> = {
  stripe: answerStripe({
    authorization,
    subscriptions: [{ ...stripeSubscription('updated').data.object, id: 'sub_1', livemode: true }],
    customers: [{ id: 'cus_ann', object: 'customer', email: 'ann@example.com' }],
  }),
  paddle: answerPaddle({
    authorization,
    subscriptions: [{ ...paddleSubscription('updated').data, id: 'sub_1' }],
    customers: [],
  }),
  polar: answerPolar({
    authorization,
    lists: {
      subscriptions: [
        { ...polarSubscription('subscription.updated').data, id: POLAR_SUBSCRIPTION },
      ],
      'license-keys': [],
      products: [],
    },
  }),
  fastspring: answerFastSpring({
    authorization: `Basic ${Buffer.from(KEY).toString('base64')}`,
    subscriptions: [{ ...fastSpringSubscription('updated').data, id: 'fssub_1' }],
    accounts: [],
  }),
  lemonsqueezy: answerLemonSqueezy({
    authorization,
    lists: {
      subscriptions: [
        lemonSqueezySubscription('subscription_updated', { attributes: { test_mode: false } }).data,
      ],
      'license-keys': [],
      'license-key-instances': [],
    },
  }),
};

/** The files of the commands, by source and name: recorded ones, or their content. */
const FILES: Readonly<Record<string, Readonly<Record<string, { recorded: string } | string>>>> = {
  keygen: {
    'licenses.json': { recorded: 'keygen-licenses.json' },
    'machines.json': { recorded: 'keygen-machines.json' },
    'products.txt': '*=personal\n',
  },
  cryptlex: {
    'licenses.json': { recorded: 'cryptlex-licenses.json' },
    'activations.json': { recorded: 'cryptlex-related.json' },
  },
  gumroad: { 'sales.csv': { recorded: 'gumroad-sales.csv' } },
  lemonsqueezy: {
    'license-keys.json': { recorded: 'lemonsqueezy-license-keys.json' },
    'others.jsonl': { recorded: 'lemonsqueezy-related.jsonl' },
  },
  'paddle-classic': { 'sent-licenses.csv': { recorded: 'paddle-classic.csv' } },
  edd: {
    'licenses.csv': { recorded: 'edd-licenses.csv' },
    'activations.json': { recorded: 'edd-related.json' },
  },
  woocommerce: {
    'licenses.json': { recorded: 'woocommerce-licenses.json' },
    'orders.json': { recorded: 'woocommerce-orders.json' },
  },
  csv: {
    'keys.csv':
      'Serial;Mail;Paid until;Subscription\n80E15DB5-C796-436B-850C-8F9C98A48ABE;ann@example.com;2027-05-01;sub_1\n',
  },
};

const stub = await startPaddleApiStub();
let directory: string;
let database: TestDatabase;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-moving-'));
  database = await createTestDatabase();
});

after(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

function run(args: readonly string[]): Promise<CommandRun> {
  const settings = {
    DATABASE_URL: database.url,
    LATCHKEY_SECRET: 'a master secret for the tests alone',
  };
  return runLatchkey(args, { directory, settings });
}

function writeFiles(source: string): void {
  for (const [name, content] of Object.entries(FILES[source] ?? {})) {
    const path = join(directory, name);
    if (typeof content === 'string') writeFileSync(path, content);
    else {
      const recorded = join(repository, 'server/test/fixtures/imports', content.recorded);
      copyFileSync(recorded, path);
    }
  }
}

/** Runs a documented import with its files, or with the account of its key. */
function runImport(args: readonly string[]): Promise<CommandRun> {
  const source = args[args.indexOf('--from') + 1] ?? '';
  const keyFile = args.indexOf('--key-file');
  if (keyFile < 0) {
    writeFiles(source);
    return run(args);
  }
  writeFileSync(join(directory, args[keyFile + 1] ?? ''), `${KEY}\n`);
  stub.answer = APIS[source] ?? stub.answer;
  return run([...args, '--api-url', stub.url, '--product', 'personal']);
}

const imports = commands.filter(([name]) => name === 'import');

describe('the commands of the page about moving', () => {
  test('import from every source', async () => {
    const { stdout } = await run(['import', '--help']);
    const [, list = ''] = /choices: ([^)]*)/.exec(stdout.replaceAll(/\s+/g, ' ')) ?? [];
    const known = [...list.matchAll(/"([^"]+)"/g)].map(([, source]) => source);
    const documented = new Set(imports.map((args) => args[args.indexOf('--from') + 1]));
    assert.ok(known.length > 5);
    assert.deepEqual(
      known.filter((source) => !documented.has(source)),
      [],
    );
  });

  for (const args of imports) {
    test(args.join(' '), async () => {
      const { stdout, stderr } = await runImport(args);
      assert.match(stdout, /^Would import [1-9]\d* licenses? of \d+ rows? from /, stderr);
    });
  }

  test('list an import, and undo it', async () => {
    const [first = []] = imports;
    await runImport(first.filter((arg) => arg !== '--dry-run'));
    for (const args of commands.filter(([name]) => name === 'imports')) {
      const listed = JSON.parse((await run(['imports', 'list', '--json'])).stdout);
      const id = listed.items[0].import_id;
      const { code, stdout } = await run(args.map((arg) => (arg.startsWith('0190') ? id : arg)));
      assert.equal(code, 0);
      assert.match(stdout, args[1] === 'undo' ? /^Would remove 1 license/ : /stripe/);
    }
  });
});
