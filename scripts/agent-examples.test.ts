/** Runs the example of docs/first-steps-agent.md, and the programs of docs/operations/agent.md. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { MAIN, waitForOutput } from '../agent/test/agent-program.ts';
import { findFreePort } from '../agent/test/find-free-port.ts';
import { repository } from './lib/steps.ts';

const TOKEN = 'a-token-for-the-tests-of-documents';
const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-documents-'));
const port = await findFreePort();
const skip =
  process.platform === 'linux'
    ? requireProgram('openssl') || requireProgram('curl')
    : 'the agent runs on Linux only';

let agent: ChildProcess | null = null;
after(() => {
  agent?.kill();
  rmSync(directory, { recursive: true });
});

function requireProgram(program: string): string | false {
  const isHere = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  return isHere ? false : `${program} is missing`;
}

/** Returns a block of a document, with the paths and the port of this test. */
function readBlock(file: string, language: string, pattern: RegExp): string {
  const document = readFileSync(join(repository, file), 'utf8');
  const blocks = document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  const found = [...blocks].map(([, block = '']) => block).find((block) => pattern.test(block));
  if (found === undefined) throw new Error(`${file} has no ${language} block with ${pattern}.`);
  return found.replaceAll('/tmp/', `${directory}/`).replaceAll('4096', String(port));
}

before(async () => {
  if (skip !== false) return;
  const commands = readBlock('docs/first-steps-agent.md', 'sh', /latchkey-agent\.mjs run/);
  writeFileSync(join(directory, 'tokens'), `${TOKEN}\n`);
  // Adds a token, and replaces the shell with this Node.js, so that it can be stopped.
  const own = commands
    .replace('node agent/bin/latchkey-agent.mjs', `exec "${process.execPath}" "${MAIN}"`)
    .replace(/\\n' \\\n/, `\\nviewers: { tokens_file: ${directory}/tokens }\\n' \\\n`);
  agent = spawn('sh', ['-euc', own], { cwd: repository, stdio: ['ignore', 'ignore', 'pipe'] });
  await waitForOutput(agent, /listens on/);
});

test('serves the live page with the commands of the first steps', { skip }, async () => {
  const args = ['--silent', '--cacert', join(directory, 'agent.pem')];
  const address = `https://localhost:${port}/`;
  const { stdout } = await promisify(execFile)('curl', [...args, address]);
  assert.match(stdout, /^<!doctype html>/i);
});

test('the program for Node.js prints the metrics', { skip }, async () => {
  const script = readBlock('docs/operations/agent.md', 'js', /latchkey\.snapshot\.v1/);
  const [hello, figure] = await readLines(runScript('watch.mjs', script), 2);
  assert.match(hello ?? '', /^\S+, every 1 s$/);
  assertRatio(figure);
});

test(
  'the program for Python prints the metrics',
  {
    skip: skip || requireProgram('python3'),
  },
  async () => {
    const path = join(directory, 'watch.py');
    writeFileSync(path, readBlock('docs/operations/agent.md', 'python', /ssl/));
    const env = { ...process.env, TOKEN, CA: join(directory, 'agent.pem') };
    const args = [path, 'localhost', String(port), '/'];
    const lines = await readLines(spawn('python3', args, { env }), 2);
    for (const line of lines) assertRatio(line);
    const refused = spawn('python3', args, { env: { ...env, TOKEN: 'no-token' } });
    assert.match(
      await text(refused.stderr),
      /401 Unauthorized\r?\nThe access token is not known\./,
    );
  },
);

test('the bridge posts whole requests to a collector', { skip }, async () => {
  await using collector = createServer().listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const at = typeof address === 'object' ? address?.port : 0;
  const script = readBlock('docs/operations/agent.md', 'js', /otlp-json/);
  const bridge = runScript('bridge.mjs', script, {
    COLLECTOR: `http://127.0.0.1:${at}/v1/metrics`,
  });
  const [request, response]: unknown[] = await once(collector, 'request', {
    signal: AbortSignal.timeout(20_000),
  });
  assert.ok(request instanceof IncomingMessage && response instanceof ServerResponse);
  assert.equal(request.headers['content-type'], 'application/json');
  assert.match(await text(request), /^\{"resourceMetrics":\[.*"system\.cpu\.utilization"/);
  response.end('{}');
  bridge.kill();
});

function runScript(name: string, script: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const path = join(directory, name);
  writeFileSync(path, script);
  const own = { ADDRESS: `wss://localhost:${port}`, TOKEN, ...env };
  const trust = { NODE_EXTRA_CA_CERTS: join(directory, 'agent.pem') };
  return spawn(process.execPath, [path], { env: { ...process.env, ...trust, ...own } });
}

/** Returns the first lines of a program, and stops it. */
async function readLines(child: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = [];
  if (child.stdout === null) return lines;
  for await (const line of createInterface({ input: child.stdout })) {
    if (lines.push(line) === count) break;
  }
  child.kill();
  return lines;
}

function assertRatio(line: string | undefined): void {
  assert.match(line ?? '', /^(?:0|1|0\.\d+)(?:\.0)?$/);
}
