/** Applies the example of add-an-operation.md to a copy of the tree. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { repository } from './lib/steps.ts';

const run = promisify(execFile);

/** "Create `file`:", "Append to `file`:", "In `file`, after `line`:" or "after ``start of a line …``:", and the block that follows. */
const STEP =
  /(?:(?<verb>Create|Append to|In)\s+`(?<file>[^`]+)`)(?:,\s+(?<where>before|after|after each)\s+(?:``(?<start>.+?) …``|`(?<line>[^`]+)`))?:\n\n```(?:ts|md)\n(?<block>.*?)^```$/gms;

interface Change {
  readonly verb: string;
  readonly file: string;
  readonly where: string;
  readonly line: string;
  /** Of the line, if the line is not given as a whole. */
  readonly start: string;
  readonly block: string;
}

async function readChanges(): Promise<Change[]> {
  const page = await readFile(join(repository, 'docs/contributing/add-an-operation.md'), 'utf8');
  return Array.from(page.matchAll(STEP), ({ groups = {} }) => {
    const { verb = '', file = '', where = '', line = '', start = '', block = '' } = groups;
    return { verb, file, where, line, start, block };
  });
}

/** The parts that the service, its tests and the generated documents need; the example changes no other. */
const COPIED = ['contract', 'scripts', 'server', 'docs/operations/roles.md', ':(glob)*'];

/** Copies the files of git in these parts; links installed packages, except the workspaces. */
async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'first-change-'));
  after(() => rm(copy, { recursive: true }));
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...COPIED];
  const { stdout } = await run('git', listed, { cwd: repository, maxBuffer: 2 ** 24 });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await cp(join(repository, file), join(copy, file)).catch(ignoreDeleted);
  }
  await linkPackages(join(repository, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** git also lists a deleted file before its deletion is committed. */
function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, '@latchkey'), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== '@latchkey') await symlink(join(from, name), join(to, name));
  }
  for (const name of ['contract', 'server']) {
    await symlink(join('../..', name), join(to, '@latchkey', name));
  }
}

async function apply(root: string, change: Change): Promise<void> {
  const { verb, file, block } = change;
  const path = join(root, file);
  if (verb === 'Create') {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, block, { flag: 'wx' });
    return;
  }
  const text = await readFile(path, 'utf8');
  await writeFile(path, verb === 'In' ? insert(text, change) : `${text}\n${block}`);
}

function insert(text: string, { where, line, start, block }: Change): string {
  const isPlace = (each: string): boolean =>
    line === '' ? each.startsWith(start) : each.trim() === line;
  const lines = text.split('\n');
  const places = lines.filter(isPlace).length;
  assert.ok(where === 'after each' ? places > 0 : places === 1, `${places} lines: ${line}${start}`);
  const added = block.replace(/\n$/, '');
  const replaced = lines.flatMap((each) => {
    if (!isPlace(each)) return [each];
    return where === 'before' ? [added, each] : [each, added];
  });
  return replaced.join('\n');
}

test('the example of add-an-operation.md works', async () => {
  const root = await copyTree();
  const changes = await readChanges();
  assert.equal(changes.length, 12);
  for (const change of changes) await apply(root, change);
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env;
  const node = (...args: string[]) => run(process.execPath, args, { cwd: root, env });
  await node('scripts/openapi.ts');
  await node('node_modules/oxfmt/bin/oxfmt');
  await writeFile(join(root, 'changed.json'), renderTypeScriptProject(changes));
  await node('node_modules/typescript/bin/tsc', '--singleThreaded', '--project', 'changed.json');
  await node(
    '--test',
    // Both in one process, which loads the service once.
    '--test-isolation=none',
    'server/test/acceptance/count-seats.test.ts',
    'server/test/acceptance/interface-document.test.ts',
  );
});

/** The types of the changed files and of all that they import. */
function renderTypeScriptProject(changes: readonly Change[]): string {
  const files = [...new Set(changes.map(({ file }) => file))].filter((file) =>
    file.endsWith('.ts'),
  );
  return JSON.stringify({ extends: './tsconfig.json', files, include: [] });
}
