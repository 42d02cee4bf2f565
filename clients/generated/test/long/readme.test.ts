/** Runs the commands and programs of the README with the generators from their registries, against the service. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { startTestService } from '../../../../server/test/harness.ts';

const run = promisify(execFile);

const WRITTEN_URL = 'http://127.0.0.1:8080';
const UNKNOWN_KEY = 'LK-7Q2M9-X4T1C-ZB8DH-3KPNE-5WV94';

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
const directory = await mkdtemp(join(tmpdir(), 'latchkey-generated-'));
after(() => rm(directory, { recursive: true, force: true }));
const service = await startTestService();

/** The environment of a user: without the settings of this repository for npm, and of the test runner. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_(?!EXTRA_CA_CERTS)/i.test(name)),
);

/** A language of the README: its commands, and its program. */
interface Language {
  readonly folder: string;
  readonly setUp: string;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the section of a language, and creates its folder. */
async function readLanguage(title: string, fence: string): Promise<Language> {
  const [, section = ''] = readme.split(`\n## ${title}\n`);
  const block = (name: string): string =>
    (new RegExp(`^\`\`\`${name}\\n(.*?)^\`\`\``, 'ms').exec(section)?.[1] ?? '').replaceAll(
      WRITTEN_URL,
      service.url,
    );
  const folder = join(directory, fence);
  await mkdir(folder);
  return { folder, setUp: block('sh'), program: block(fence), env: { ...environment } };
}

/** Runs the commands of a language. @returns the reason to skip its test when the generator cannot be installed; else null */
async function setUp({ folder, setUp: commands, env }: Language): Promise<string | null> {
  try {
    await run('sh', ['-euc', commands], { cwd: folder, env });
    return null;
  } catch (error) {
    const text = String(Reflect.get(Object(error), 'stderr'));
    const reason = UNREACHABLE.exec(text);
    if (reason === null) throw error;
    return `the generator cannot be installed: ${reason[0]}`;
  }
}

/** What npm, pip and go print when a registry cannot be reached, or has nothing for a version of the language as old as the installed one. */
const UNREACHABLE =
  /(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|No matching distribution found|NewConnectionError|dial tcp|no such host|module lookup disabled|module requires Go|proxyconnect|i\/o timeout).*/;

/** Runs a program with a key that exists, and one that does not. */
async function assertPrints(
  { folder, env }: Language,
  command: readonly [string, ...string[]],
  valid: RegExp,
): Promise<void> {
  const { licenseKey } = await service.issue();
  const [program, ...args] = command;
  const call = async (key: string) =>
    (await run(program, [...args, key], { cwd: folder, env })).stdout;
  assert.match(await call(licenseKey), valid);
  assert.equal(await call(UNKNOWN_KEY), 'license_not_found\n');
}

/** Why a program cannot be used; false if it can. */
function lacks(program: string, ...args: string[]): string | false {
  return spawnSync(program, args).status === 0 ? false : `${program} is not installed`;
}

test('openapi-typescript and openapi-fetch', async (t) => {
  const language = await readLanguage('TypeScript', 'ts');
  const { folder, env } = language;
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  const reason = await setUp(language);
  if (reason !== null) return t.skip(reason);
  await writeFile(join(folder, 'program.ts'), language.program);
  await writeFile(join(folder, 'types.d.ts'), 'declare const process: { argv: string[] };');
  const options = [
    '--strict',
    '--noEmit',
    '--allowImportingTsExtensions',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  await run('npx', ['tsc', ...options, 'program.ts', 'types.d.ts'], { cwd: folder, env });
  const flag = '--disable-warning=ExperimentalWarning';
  await assertPrints(language, [process.execPath, flag, 'program.ts'], /^true active\n$/);
});

test('openapi-python-client', { skip: lacks('python3', '-c', 'import ensurepip') }, async (t) => {
  const language = await readLanguage('Python', 'python');
  await run('python3', ['-m', 'venv', 'venv'], { cwd: language.folder });
  const bin = join(language.folder, 'venv', 'bin');
  language.env['PATH'] = `${bin}${delimiter}${language.env['PATH']}`;
  const reason = await setUp(language);
  if (reason !== null) return t.skip(reason);
  await writeFile(join(language.folder, 'program.py'), language.program);
  await assertPrints(language, [join(bin, 'python'), 'program.py'], /^True active\n$/);
});

test('oapi-codegen', { skip: lacks('go', 'version') }, async (t) => {
  const language = await readLanguage('Go', 'go');
  await writeFile(join(language.folder, 'main.go'), language.program);
  const reason = await setUp(language);
  if (reason !== null) return t.skip(reason);
  await run('go', ['build', '-o', 'program', '.'], { cwd: language.folder, env: language.env });
  await assertPrints(language, [join(language.folder, 'program')], /^true active\n$/);
});
