/** Compares the parser of nginx configuration with nginx. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import * as fc from 'fast-check';

import { readDirectives } from '#agent/install/nginx/directives.ts';
import { NginxFault } from '#agent/install/nginx/tokens.ts';
import { readConfiguration } from '#agent/install/nginx/read-configuration.ts';
import { chooseServer, listChosen, listServers } from '#agent/install/nginx/servers.ts';
import { requestWithoutTls } from './proxy-client.ts';
import { lacksNginx, startNginx } from './nginx-process.ts';
import { findFreePort } from './find-free-port.ts';

const SEED = 20261121;

/** An argument with any quoting and escapes. `$` occurs only in a variable. */
const spelling = fc
  .array(
    fc.constantFrom(
      ...'ab"\'\\#}{ ;\t'.split(''),
      '"',
      "'",
      '\\"',
      "\\'",
      '\\\\',
      '\\t',
      '\\n',
      '\\;',
      '\\{',
      '\\ ',
      '\\x',
      '${host}',
      '{}',
      '\r\n',
      'é',
    ),
    { minLength: 1, maxLength: 7 },
  )
  .chain((parts) =>
    fc.constantFrom('', '"', "'").map((quote) => `${quote}${parts.join('')}${quote}`),
  );

/** Parses an argument; null when the text is invalid or not exactly one argument. */
function readArgument(written: string): string | null {
  try {
    const [directive, ...others] = readDirectives('/x', `return 200 ${written};`);
    const isOne = others.length === 0 && directive?.block === null && directive.args.length === 2;
    return isOne ? (directive.args[1] ?? null) : null;
  } catch (error) {
    assert.ok(error instanceof NginxFault);
    return null;
  }
}

describe('the parser of nginx configuration', { skip: lacksNginx }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-nginx-reading-'));
  after(() => rmSync(directory, { recursive: true }));

  /** Whether `nginx -t` accepts a directive. */
  function isAccepted(text: string): boolean {
    const path = join(directory, 'nginx.conf');
    writeFileSync(
      path,
      `pid ${directory}/pid;\nevents {}\nhttp { access_log off; server { listen unix:${directory}/s; location / {\n${text}\n} } }\n`,
    );
    const { stderr } = spawnSync('nginx', ['-t', '-c', path, '-e', 'stderr'], { encoding: 'utf8' });
    return /test is successful/.test(stderr);
  }

  test('parses words as nginx does', async () => {
    const port = await findFreePort();
    const words = fc
      .sample(spelling, { numRuns: 1500, seed: SEED })
      .map((written) => ({ written, read: readArgument(written) }))
      .filter(({ read }) => read !== null && read !== '');
    assert.ok(words.length > 200, `${words.length} words`);
    const locations = words.map(
      ({ written }, index) => `location = /${index} { return 200 ${written}; }\n`,
    );
    const site = `server { listen 127.0.0.1:${port}; server_name a.test;\n${locations.join('')}}\n`;
    await using nginx = await startNginx({ 'conf.d/a.conf': site }, port);
    assert.match(nginx.test(), /test is successful/);
    for (const [index, { written, read }] of words.entries()) {
      const { text } = await requestWithoutTls(port, `/${index}`);
      assert.equal(text, read?.replaceAll('${host}', '127.0.0.1'), JSON.stringify(written));
    }
  });

  test('rejects only what nginx rejects', () => {
    const faults = fc
      .sample(spelling, { numRuns: 400, seed: SEED })
      .map((written) => `add_header X ${written};`)
      .filter((text) => {
        try {
          readDirectives('/x', text);
          return false;
        } catch {
          // The test selects invalid texts.
          return true;
        }
      })
      .slice(0, 60);
    assert.equal(faults.length, 60);
    assert.equal(isAccepted('add_header X a;'), true);
    assert.deepEqual(faults.filter(isAccepted), []);
  });

  const NAMES = [
    'shop.test',
    '*.shop.test',
    '.deep.shop.test',
    '*.deep.shop.test x.test',
    'shop.*',
    'www.shop.*',
    '~^api\\d+\\.shop\\.test$',
    '"QUOTED.test"',
    "'~^quo{1,2}ted'",
    '*.test',
    '""',
    '_',
    'a.b.c.test .c.test',
    'localhost 127.0.0.1',
    'same.test',
    'same.test',
    '~SHOP',
    '*.test2 a.test2',
    '.a.test2',
  ];
  const DOMAINS = [
    'shop.test',
    'www.shop.test',
    'deep.shop.test',
    'a.deep.shop.test',
    'b.a.deep.shop.test',
    'shop.example',
    'www.shop.example',
    'x.www.shop.example',
    'api7.shop.test',
    'api7.shop.org',
    'quoted.test',
    'quoted.org',
    'other.test',
    'test',
    'nothing.org',
    'c.test',
    'b.c.test',
    'a.b.c.test',
    'same.test',
    'shop.test.org',
    'fixture.org',
    'a.test2',
  ];

  test('chooses the same server block for a name as nginx', async () => {
    const port = await findFreePort();
    const sites = NAMES.map(
      (names, index) =>
        `server { listen 127.0.0.1:${port}; server_name ${names}; return 200 ${index}; }\n`,
    );
    const main = `events {}\nhttp { server { listen 127.0.0.1:${port} default_server; return 200 none; }\n${sites.join('')}}`;
    const path = '/etc/nginx/nginx.conf';
    const servers = listServers(
      readConfiguration([{ path, realPath: path, text: main, isWritable: true }]),
    );
    assert.equal(servers.length, NAMES.length + 1);
    const site = `server { listen 127.0.0.1:${port} default_server; return 200 none; }\n${sites.join('')}`;
    await using nginx = await startNginx({ 'conf.d/a.conf': site }, port);
    assert.match(nginx.test(), /conflicting server name "same.test"/);
    const kinds = new Map<string, number>();
    for (const domain of DOMAINS) {
      const choice = chooseServer(servers, domain);
      const { text } = await requestWithoutTls(port, '/', domain);
      kinds.set(choice.kind, (kinds.get(choice.kind) ?? 0) + 1);
      const indexes = listChosen(choice).map((server) => String(servers.indexOf(server) - 1));
      assert.ok(
        (indexes.length === 0 ? ['none'] : indexes).includes(text),
        `${domain}: ${text}, not ${choice.kind} ${indexes.join(', ')}`,
      );
    }
    assert.deepEqual([...kinds.keys()].sort(), ['none', 'one', 'possible', 'several']);
  });
});
