import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { defaults } from '#server/config/config.ts';

import { runLatchkey } from '../../test/command-line.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-preview-'));
after(() => rm(directory, { recursive: true }));

const preview = (args: readonly string[], settings: Record<string, string> = {}) =>
  runLatchkey(['mail', 'preview', ...args], { directory, settings });

test('renders an outreach message with the catalogue, sender and public URL', async () => {
  const shipped = readFileSync(defaults.catalogPath, 'utf8');
  const catalog = join(directory, 'catalog.yaml');
  await writeFile(catalog, shipped.slice(0, shipped.indexOf('outreach:')));
  const { code, stdout } = await preview(['personal', '--locale', 'de', '--text', '--name', ''], {
    LATCHKEY_CATALOG: catalog,
    LATCHKEY_MAIL_FROM: 'Robin Vale <robin@studio.example>',
    LATCHKEY_PUBLIC_URL: 'https://license.studio.example',
  });
  assert.equal(code, 0);
  assert.equal(stdout.split('\n')[0], 'Personal eine Woche lang ausprobieren');
  assert.match(stdout, /^Guten Tag,$/mu);
  assert.match(stdout, /^Robin Vale$/mu);
  assert.match(stdout, /^https:\/\/studio\.example\/$/mu);
  assert.match(stdout, /^https:\/\/license\.studio\.example\/u\/example$/mu);
});

test('writes the HTML of an outreach message to a file', async () => {
  const file = join(directory, 'letter.html');
  const { code, stderr } = await preview(['update_sellers', '--out', file, '--name', 'Zoë']);
  assert.equal(code, 0);
  assert.match(stderr, /Example Studio 2\.4: news for sellers/u);
  assert.match(readFileSync(file, 'utf8'), /<!doctype html>[^]*Hello Zoë,/u);
});

test('rejects an unknown template, and lists the known ones (exit code 2)', async () => {
  const { code, stderr } = await preview(['spam']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /key, replaced_key, confirmation, personal, sellers, update_personal, update_sellers, pi_tutorials/u,
  );
});

test('prints an e-mail in a language as text, or writes its HTML to a file', async () => {
  const shown = await preview(['key', '--locale', 'de-AT', '--text']);
  assert.match(shown.stdout, /^Ihre 2 Lizenzschlüssel\n/u);
  const file = join(directory, 'key.html');
  const written = await preview(['key', '--out', file]);
  assert.deepEqual([written.code, written.stdout], [0, '']);
  assert.match(readFileSync(file, 'utf8'), /^<!doctype html>\n<html lang="en">/u);
  const lost = await preview(['key', '--out', '/nowhere/key.html']);
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /\/nowhere\/key\.html/u);
});
