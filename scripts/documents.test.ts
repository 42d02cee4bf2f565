/** Checks links, and what documents repeat from the code. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

import { buildProgram } from '#server/cli/program.ts';

import { anchorOf } from './lib/anchors.ts';
import { repository } from './lib/steps.ts';

const documents = globSync(
  [
    '*.md',
    '.github/*.md',
    'agent/**/README.md',
    'bench/*.md',
    'clients/**/*.md',
    'console/*.md',
    'docs/**/*.md',
    'examples/**/*.md',
    'server/src/**/README.md',
  ],
  {
    cwd: repository,
    exclude: ['**/node_modules/**'],
  },
).map((file) => ({
  file,
  text: readFileSync(join(repository, file), 'utf8'),
}));

const Manifest = Type.Object({ version: Type.String() });

test('links only to existing files', () => {
  assert.ok(documents.length > 20);
  const broken = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)|src="(?!https?:)([^"]+)"/g)]
      .map(([, link, source]) => link ?? source ?? '')
      .filter((link) => !existsSync(join(repository, dirname(file), link)))
      .map((link) => `${file}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('links only to existing headings', () => {
  const headings = new Map(documents.map(({ file, text }) => [file, listAnchors(text)]));
  const broken = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([\w./-]+\.md)?#([^)\s]+)\)/g)]
      .map(([, path, anchor = '']) => ({ to: path ? join(dirname(file), path) : file, anchor }))
      .filter(({ to, anchor }) => headings.get(to)?.has(anchor) !== true)
      .map(({ to, anchor }) => `${file}: ${to}#${anchor}`),
  );
  assert.deepEqual(broken, []);
});

/** Returns the anchors of headings, as GitHub names them, and explicit anchors. */
function listAnchors(text: string): Set<string> {
  const prose = text.replaceAll(/^ *```.*?^ *```/gms, '');
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
  const own = [...prose.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name);
  return new Set([...headings, ...own]);
}

test('the index calls every page by its title', () => {
  const index = documents.find(({ file }) => file === 'docs/README.md')?.text ?? '';
  const titles = new Map(documents.map(({ file, text }) => [file, /^# (.+)$/m.exec(text)?.[1]]));
  const links = [...index.matchAll(/\[([^\]]+)\]\(([\w./-]+\.md)\)/g)];
  const differing = links
    .map(([, name = '', path = '']) => ({ name, title: titles.get(join('docs', path)) ?? path }))
    .filter(({ name, title }) => !title.toLowerCase().endsWith(name.toLowerCase()))
    .map(({ name, title }) => `${name}: ${title}`);
  assert.ok(links.length > 30);
  assert.deepEqual(differing, []);
});

test('the newest heading of the changelog is the version of the package', () => {
  const changelog = documents.find(({ file }) => file === 'CHANGELOG.md')?.text ?? '';
  const { version } = Parse(
    Manifest,
    JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')),
  );
  assert.equal(/^## \[([^\]]+)\]/m.exec(changelog)?.[1], version);
});

test('names only existing files of the code', () => {
  const homes = [
    '',
    'server/src',
    'server/src/features/licenses',
    'server/src/db',
    'agent',
    'agent/src',
    'clients/conformance',
    'console/src',
    'examples/electron-like',
  ];
  const missing = documents.flatMap(({ file, text }) =>
    [...text.matchAll(isOfCode(file) ? CODE_FILE : CODE_PATH)]
      .map(([, path = '']) => path)
      .filter((path) => !isExample(path))
      .filter(
        (path) =>
          ![...homes, dirname(file), ...listHomes(text)].some((home) =>
            existsSync(join(repository, home, path)),
          ),
      )
      .map((path) => `${file}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

const CODE_PATH = /`((?:[\w.-]+\/)+[\w.-]+\.(?:tsx?|mjs|sql|json))`/g;

/** Also without a folder. */
const CODE_FILE = /`((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|mjs|sql|json))`/g;

/** Whether a document describes one folder, or names the folder of the files that follow. */
function isOfCode(file: string): boolean {
  return /^(?:ARCHITECTURE\.md$|server\/src\/|agent\/)/.test(file);
}

function listHomes(text: string): string[] {
  return [...text.matchAll(/[Pp]aths are below `([^`]+)`/g)].map(([, home = '']) => home);
}

/** The examples of documents for contributors create these. */
function isExample(path: string): boolean {
  return /count-seats|queries\/seats|0099_what_it_does/.test(path);
}

test('names only existing commands', async () => {
  const program = await buildProgram();
  const unknown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:npx |`)latchkey ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)]
      .filter(([, name, subcommand]) => {
        const command = program.commands.find((each) => each.name() === name);
        if (command === undefined) return true;
        if (command.commands.length === 0 || subcommand === undefined) return false;
        return !command.commands.some((each) => each.name() === subcommand);
      })
      .map(([command]) => `${file}: ${command}`),
  );
  assert.deepEqual(unknown, []);
});

test('names only settings of .env.example or of the agent', () => {
  const example = readFileSync(join(repository, '.env.example'), 'utf8');
  const ofAgent = [
    'agent/install.sh',
    'agent/src/install/options.ts',
    'scripts/package/files/latchkey-agent.sh',
  ]
    .map((file) => readFileSync(join(repository, file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/\bLATCHKEY_[A-Z0-9_]*[A-Z0-9]/g)])
    .map(([name]) => name);
  const ofTests = ['DATABASE_URL', 'CITUS_URL', 'DEBIAN_MIRROR'].map(
    (each) => `LATCHKEY_TEST_${each}`,
  );
  const others = new Set([...ofTests, ...ofAgent]);
  const unknown = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\bLATCHKEY_[A-Z0-9_]*[A-Z0-9]/g)]
      .map(([name]) => name)
      .filter((name) => !others.has(name) && !new RegExp(`^#${name}=`, 'm').test(example))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

test('incidents.md quotes only messages of the program', () => {
  const page = documents.find(({ file }) => file === 'docs/operations/incidents.md')?.text ?? '';
  const sources = globSync(['server/src/**/*.ts', 'scripts/lib/*.mjs'], { cwd: repository })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(repository, file), 'utf8'))
    .join('\n');
  const quotes = [...page.matchAll(/^\| [^|]*?"([^"|]+)"/gm)].map(([, quote = '']) => quote);
  assert.ok(quotes.length > 20);
  const parts = quotes.flatMap((quote) => quote.split('…').map((part) => part.trim()));
  assert.deepEqual(
    parts.filter((part) => !sources.includes(part)),
    [],
  );
});

test('the systemd unit has the flags and variables of npm start', () => {
  const starter = readFileSync(join(repository, 'scripts/lib/node24.mjs'), 'utf8');
  const [, list = ''] = /const SERVICE_FLAGS = \[(.*?)\]/s.exec(starter) ?? [];
  const flags = [...list.matchAll(/'([^']+)'/g)].map(([, flag]) => flag);
  assert.ok(flags.length > 0);
  const unit = readFileSync(join(repository, 'deploy/latchkey.service'), 'utf8');
  const [, started = ''] =
    /^ExecStart=\S+ (.*) \/opt\/latchkey\/server\/src\/main\.ts serve$/m.exec(unit) ?? [];
  assert.deepEqual(started.split(' '), flags);
  const [, name = '', value = ''] =
    /const SERVICE_ENVIRONMENT = \{ (\w+): '(\w+)' \}/.exec(starter) ?? [];
  assert.match(unit, new RegExp(`^Environment=.* ${name}=${value}$`, 'm'));
});
