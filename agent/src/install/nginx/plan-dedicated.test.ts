import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { NginxFile } from '../facts.ts';
import { paths } from '../paths.ts';
import {
  HEADER,
  host,
  LIMITS,
  MAIN,
  options,
  plan,
  planSite,
  reasonOf,
  SITE,
  tls,
} from './plan-proxy.fixture.ts';
import { renderChallenge, renderChallengeServer, renderServer } from './render.ts';

/** Returns the `listen` lines of the agent's block, and of the block for the challenge. */
function listens(site: string): unknown {
  const found = planSite(site);
  assert.ok(found.kind === 'dedicated');
  return [found.server, ...found.challenge.files].map(({ text }) =>
    [...text.matchAll(/^ +listen ([^;]+);/gm)].map(([, listen]) => listen),
  );
}

/** Returns the lines on HTTP/2 in the agent's block, and the notes. */
function offer(site: string, version: string): unknown {
  const found = planSite(site, { version, hasIpv6: false });
  assert.ok(found.kind === 'dedicated');
  const lines = [...found.server.text.matchAll(/^ +((?:listen|http2) [^;]+);/gm)];
  return [lines.map(([, line]) => line), found.notes];
}

/** Returns the path of the zone that counts connections, and whether the route limits them. */
function findLimits(main: string): unknown {
  const found = plan(host({ [SITE]: tls('') }, main));
  assert.ok(found.kind === 'existing');
  return [found.limits?.path, found.route.text.includes('limit_conn latchkey_agent 80;')];
}

describe('a server block of the agent', () => {
  test('is planned with one for the challenge where no block serves the domain', () => {
    assert.deepEqual(plan(host({})), {
      kind: 'dedicated',
      limits: LIMITS,
      server: {
        kind: 'file',
        path: paths.nginxServer,
        text: HEADER + renderServer(options, true),
        mode: 0o644,
        group: 'root',
        keepsExisting: false,
      },
      challenge: {
        files: [
          {
            kind: 'file',
            path: paths.nginxChallengeServer,
            text: HEADER + renderChallengeServer(options),
            mode: 0o644,
            group: 'root',
            keepsExisting: false,
          },
        ],
        edits: [],
      },
      notes: [],
    });
  });

  test('needs no challenge for an existing certificate', () => {
    const found = plan(host({}), { needsChallenge: false });
    assert.ok(found.kind === 'dedicated');
    assert.deepEqual(found.challenge, { files: [], edits: [] });
  });

  test('is planned with the challenge in the block of the domain on port 80, before its redirects', () => {
    const text =
      'server {\n    server_name shop.test;\n    return 301 https://$host$request_uri;\n}\n';
    const found = planSite(text);
    assert.ok(found.kind === 'dedicated');
    assert.deepEqual(
      found.challenge.files.map(({ path, text: own }) => [path, own]),
      [[paths.nginxChallenge, HEADER + renderChallenge()]],
    );
    assert.deepEqual(found.challenge.edits, [
      {
        kind: 'edit',
        path: SITE,
        before: text,
        after: text.replace('{\n', `{\n    include ${paths.nginxChallenge}; # latchkey-agent\n`),
      },
    ]);
    const again = planSite(found.challenge.edits[0]?.after ?? '');
    assert.deepEqual(again, { ...found, challenge: { ...found.challenge, edits: [] } });
  });

  const challenges: readonly [text: string, reason: string][] = [
    [
      'server { server_name shop.test; location /.well-known/acme-challenge/ { root /x; } }',
      `The path /.well-known/acme-challenge/ is taken already (${SITE}, line 1).`,
    ],
    [
      'server { server_name shop.test; }\nserver { listen [::]:80; server_name shop.test; }',
      `Several server blocks answer for shop.test on port 80 (${SITE}, line 1; ${SITE}, line 2), of which nginx uses one.`,
    ],
    [
      'server { server_name shop.test; rewrite_by_lua_file /x.lua; }',
      `A program in Lua decides on every request (${SITE}, line 1).`,
    ],
  ];
  for (const [text, reason] of challenges) {
    test(`is refused when the challenge cannot be answered: ${reason}`, () => {
      const found = planSite(text);
      assert.equal(reasonOf(found), reason);
      assert.ok(
        found.kind === 'refused' && found.instructions.includes(renderServer(options).trimEnd()),
      );
    });
  }

  test('never becomes the default block for unknown names', () => {
    const other = 'server { listen 443 ssl; server_name other.test; }\n';
    const found = planSite(other);
    assert.ok(found.kind === 'dedicated');
    assert.equal(found.server.path, '/etc/nginx/sites-enabled/zz-latchkey-agent.conf');
    assert.equal(found.challenge.files[0]?.path, paths.nginxChallengeServer);

    const onlyConfD = MAIN.replace('include sites-enabled/*;', '');
    const second = plan(host({ '/etc/nginx/conf.d/other.conf': other }, onlyConfD));
    assert.ok(second.kind === 'dedicated');
    assert.equal(second.server.path, '/etc/nginx/conf.d/zz-latchkey-agent.conf');

    const withDefault = planSite(other.replace('ssl;', 'ssl default_server;'));
    assert.ok(withDefault.kind === 'dedicated');
    assert.equal(withDefault.server.path, paths.nginxServer);

    const inMain = plan(host({}, MAIN.replace(/\}\n$/, `${other}}\n`)));
    assert.equal(
      reasonOf(inMain),
      'A server block of the agent would precede the others on port 443 and answer requests that match no name.',
    );
  });

  test('limits connections where nginx loads a directory for the zone', () => {
    assert.deepEqual(findLimits(MAIN), ['/etc/nginx/conf.d/latchkey-agent-limits.conf', true]);
    assert.deepEqual(findLimits(MAIN.replace('include /etc/nginx/conf.d/*.conf;', '')), [
      '/etc/nginx/sites-enabled/latchkey-agent-limits.conf',
      true,
    ]);
    const alone = `http { include ${SITE}; }`;
    assert.deepEqual(findLimits(alone), [undefined, false]);
  });

  test('listens on IPv6 with other sites or without any', () => {
    const both = ['443 ssl http2', '[::]:443 ssl http2'];
    assert.deepEqual(listens('server { server_name a; }\n'), [both, ['80']]);
    assert.deepEqual(listens('server { listen 80; listen [::]:80; listen 443 ssl; }\n'), [
      ['443 ssl http2'],
      ['80', '[::]:80'],
    ]);
    assert.deepEqual(listens('server { listen 443 ssl; listen [::]:443 ssl; }\n'), [
      both,
      ['80', '[::]:80'],
    ]);
  });

  test('offers HTTP/2, and notes when it turns on HTTP/2 for other sites', () => {
    const other = 'server { listen 443 ssl; server_name other.test; }\n';
    const note =
      'The server block of the agent turns on HTTP/2 for the other sites on port 443, too: before nginx 1.25.1 it is a setting of the port. Browsers fall back to HTTP/1.1 where they need it; a newer nginx keeps it to one site.';
    const asPartOfListen = ['listen 443 ssl http2'];
    assert.deepEqual(offer('', '1.22.1'), [asPartOfListen, []]);
    assert.deepEqual(offer(other, '1.22.1'), [asPartOfListen, [note]]);
    assert.deepEqual(offer(other.replace('ssl', 'ssl http2'), '1.22.1'), [asPartOfListen, []]);
    assert.deepEqual(offer(other, '1.25.1'), [['listen 443 ssl', 'http2 on'], []]);
  });

  test('is planned beside sites on loopback when others listen on every address', () => {
    const site = 'server { listen 127.0.0.1:443 ssl; }\nserver { listen 0.0.0.0:443 ssl; }\n';
    assert.equal(planSite(site).kind, 'dedicated');
  });

  test('is checked for each address family separately', () => {
    const other = 'server { listen 443 ssl default_server; listen [::]:443 ssl; }\n';
    const found = planSite(other);
    assert.ok(found.kind === 'dedicated');
    assert.equal(found.server.path, '/etc/nginx/sites-enabled/zz-latchkey-agent.conf');
  });

  test('keeps its path in a second plan', () => {
    const files = host({ [SITE]: 'server { listen 443 ssl; server_name other.test; }\n' });
    const first = plan(files);
    assert.ok(first.kind === 'dedicated');
    const written = [first.server, ...first.challenge.files].map(({ path, text }) => [path, text]);
    const again = [...files, ...host(Object.fromEntries(written)).slice(1)];
    assert.deepEqual(plan(again), first);
    const without = plan(again.filter(({ path }) => path !== SITE));
    assert.ok(without.kind === 'dedicated');
    assert.equal(without.server.path, first.server.path);
  });

  const hosts: readonly [what: string, files: NginxFile[], reason: RegExp][] = [
    [
      'nginx loads no such files',
      host({}, 'events {}\nhttp { }\n'),
      /^nginx loads neither \/etc\/nginx\/conf\.d/,
    ],
    [
      'another site listens on one address',
      host({ [SITE]: 'server { listen 192.0.2.1:443 ssl; }' }),
      /^Another site listens on port 443 on specific addresses .*shop, line 1/,
    ],
    [
      'another site listens for this machine alone',
      host({ [SITE]: 'server { listen 127.0.0.1:443 ssl; }' }),
      /^Another site listens on port 443 on specific addresses .*shop, line 1/,
    ],
    [
      'another site accepts both address families on one socket',
      host({ [SITE]: 'server { listen [::]:443 ssl ipv6only=off; }' }),
      /^Another site listens on port 443 on specific addresses/,
    ],
    [
      'all sites require a password',
      host({}, MAIN.replace('types', 'auth_basic x;\n types')),
      /^The site requires a password on every path \(\/etc\/nginx\/nginx\.conf, line 4\)/,
    ],
  ];
  for (const [what, files, reason] of hosts) {
    test(`is refused where ${what}`, () => {
      const found = plan(files);
      assert.match(reasonOf(found) ?? '', reason);
      assert.ok(
        found.kind === 'refused' &&
          [true, false]
            .map((hasIpv6) => renderServer({ ...options, hasIpv6 }).trimEnd())
            .some((text) => found.instructions.includes(text)),
      );
    });
  }
});
