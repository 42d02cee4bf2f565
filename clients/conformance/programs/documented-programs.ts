/** What the tests of all clients share that run the code of a README, and the example, against the service. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { startTestService, TEST_ISSUER } from '../../../server/test/harness.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';

/** The issuer in an option of any language. */
const WRITTEN_ISSUER = /(\bissuer\W{1,20}?)http:\/\/127\.0\.0\.1:8080/giu;

/** Runs a program with arguments, and returns what it prints. */
export type Call = (...args: string[]) => Promise<string>;

type Settings = Parameters<typeof startTestService>[0];

/** Starts the service with the clock of this computer, and creates a folder; both end with the test file. */
export async function startClientTest(
  name: string,
  settings: NonNullable<Settings>['settings'] = {},
) {
  const clock = { now: () => new Date(), set: () => undefined, advance: () => undefined };
  const service = await startTestService({ clock, settings });
  const directory = await mkdtemp(join(tmpdir(), `latchkey-${name}-`));
  after(() => rm(directory, { recursive: true }));
  return { service, directory };
}

/** Returns the blocks of a language in the README of a client. */
export async function readBlocks(client: string, language: string): Promise<string[]> {
  const readme = await readFile(join(client, 'README.md'), 'utf8');
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
  return Array.from(readme.matchAll(pattern), ([, block = '']) => block);
}

/** Returns code of a README with the address and the issuer of a service. */
export function useService(code: string, service: { readonly url: string }): string {
  return code.replace(WRITTEN_ISSUER, `$1${TEST_ISSUER}`).replaceAll(WRITTEN_URL, service.url);
}

/** Checks that a README names all calls of a client. @param least the least number of calls, so that a wrong pattern fails */
export async function checkNames(
  client: string,
  names: readonly string[],
  least: number,
): Promise<void> {
  const readme = await readFile(join(client, 'README.md'), 'utf8');
  assert.ok(names.length >= least, `only ${names.length} calls were found: ${names.join(' ')}`);
  assert.deepEqual(
    names.filter((name) => !readme.includes(name)),
    [],
  );
}

/** The variables that the example of every client reads. */
export function exampleVariables(service: { readonly url: string }, directory: string) {
  return {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: join(directory, 'kept-by-example'),
  };
}

/** Checks that an example activates with a key, lists its machine, and deactivates it. */
export async function checkExample(call: Call, licenseKey: string): Promise<void> {
  assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
  const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
  assert.equal(await call('activate', licenseKey), licensed);
  assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
  assert.match(await call('explain'), /^state: licensed$/m);
  assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
  assert.equal(await call('check'), 'Refused: not_activated.\n');
  assert.match(await call('help'), /^Commands: /);
}
