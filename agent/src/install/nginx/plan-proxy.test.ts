import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { paths } from '../paths.ts';
import { planChallengeOnly } from './plan-dedicated.ts';
import {
  HEADER,
  host,
  MAIN,
  options,
  plan,
  planSite,
  reasonOf,
  SITE,
  SOUND_TLS,
  tls,
} from './plan-proxy.fixture.ts';
import { renderRoute } from './render.ts';

/** Returns the site's file after a plan. */
function change(text: string, mode: 'proxy' | 'challenge'): string {
  const files = host({ [SITE]: text });
  const found = mode === 'proxy' ? plan(files) : planChallengeOnly(files, options);
  assert.ok(typeof found === 'object' && 'edits' in found, JSON.stringify(found));
  return found.edits[0]?.after ?? text;
}

/** Returns the notes of a plan for the domain's own block. */
function listNotes(listen: string, body = ''): unknown {
  const found = planSite(tls(body + SOUND_TLS, listen));
  assert.ok(found.kind === 'existing');
  return found.notes;
}

test('redirects viewers without TLS to https', () => {
  const found = planSite(tls('', 'listen 80; listen 443 ssl;'));
  assert.ok(found.kind === 'existing');
  const sent = found.route.text.match(
    /location [^{]*\{\n {4}if \(\$scheme = http\) \{\n {8}return 301 https:\/\/\$host\$request_uri;/g,
  );
  assert.equal(sent?.length, 2);
  // A port on loopback is usually behind a program that terminates TLS.
  for (const more of ['', 'listen 127.0.0.1:80;', 'listen [::1]:80;', 'listen unix:/run/site;']) {
    const secure = planSite(tls('', `${more} listen 443 ssl;`));
    assert.ok(secure.kind === 'existing');
    assert.doesNotMatch(secure.route.text, /scheme = http/);
  }
});

describe("the domain's own block with TLS", () => {
  const served: readonly [what: string, listen: string, name: string][] = [
    ['443 ssl', 'listen 443 ssl http2;', 'shop.test'],
    ['IPv6 alone', 'listen [::]:443 ssl;', 'shop.test'],
    ['an address with a port', 'listen 192.0.2.1:443 ssl;', 'shop.test'],
    ['ssl on', 'listen 443; ssl on;', 'shop.test'],
    ['several names in any case, in quotes', 'listen 443 ssl;', 'www.shop.test "SHOP.test" _'],
    ['a wildcard', 'listen 443 ssl default_server;', '*.test'],
    ['a dot in front', 'listen 443 ssl;', '.shop.test'],
    ['a wildcard at the end', 'listen 443 ssl;', 'shop.*'],
    ['a range of ports', 'listen 440-445 ssl;', 'shop.test'],
    ['HTTP/3, too', 'listen 443 quic reuseport; listen 443 ssl;', 'shop.test'],
  ];
  for (const [what, listen, name] of served) {
    test(`gets one include: ${what}`, () => {
      const text = `server {\n    ${listen}\n    server_name ${name};\n}\n`;
      const found = planSite(text);
      assert.equal(found.kind, 'existing', JSON.stringify(found));
      assert.deepEqual(found.edits, [
        {
          kind: 'edit',
          path: SITE,
          before: text,
          after: `server {\n    ${listen}\n    server_name ${name};\n    include ${paths.nginxRoute}; # latchkey-agent\n}\n`,
        },
      ]);
      assert.equal(found.route.path, paths.nginxRoute);
      assert.equal(found.route.text, HEADER + renderRoute(options, { isLimited: true }));
    });
  }

  const elsewhere: readonly [what: string, text: string][] = [
    ['a comment', '# server { listen 443 ssl; server_name shop.test; }\n'],
    ['a name in a comment', 'server { listen 443 ssl default_server; # server_name shop.test;\n }'],
    [
      'names of other domains',
      'server { listen 443 ssl default_server; server_name _ "" shop.test.example; }',
    ],
    ['another port', 'server { listen 8443 ssl; server_name shop.test; }'],
    ['a socket', 'server { listen unix:/run/x.sock ssl; server_name shop.test; }'],
    ['no listen', 'server { server_name other.test; }'],
    ['HTTP/3 only', 'server { listen 443 quic; server_name shop.test; }'],
    [
      'an expression that does not match, with a name of PCRE',
      'server { listen 443 ssl default_server; server_name ~^(?P<sub>www)\\.; }',
    ],
    [
      'an expression that does not match',
      'server { listen 443 ssl default_server; server_name ~^www\\.; }',
    ],
  ];
  for (const [what, text] of elsewhere) {
    test(`is not chosen from ${what}`, () => assert.equal(planSite(text).kind, 'dedicated'));
  }

  test('gets the include that another domain of the same file had', () => {
    const include = `include ${paths.nginxRoute};`;
    const inline = `server { listen 443 ssl; server_name a.test; ${include} }\n`;
    const line = `server {\n    server_name b.test;\n    ${include} # latchkey-agent\n}\n`;
    const changed = change(`${inline}${tls('')}${line}`, 'proxy');
    const own = tls(`    ${include} # latchkey-agent\n`);
    assert.equal(
      changed,
      `server { listen 443 ssl; server_name a.test; }\n${own}server {\n    server_name b.test;\n}\n`,
    );
  });

  test('is chosen by the exact name before wildcards and expressions', () => {
    const files = host({
      '/etc/nginx/sites-enabled/a': 'server { listen 443 ssl; server_name *.test ~shop; }\n',
      '/etc/nginx/sites-enabled/b': tls(''),
    });
    const found = plan(files);
    assert.ok(found.kind === 'existing');
    assert.deepEqual(
      found.edits.map(({ path }) => path),
      ['/etc/nginx/sites-enabled/b'],
    );
  });

  test('may have its names, its ports and its TLS in included files', () => {
    const files = host({
      [SITE]: 'server {\n    include snippets/shop-*.conf;\n}\n',
      '/etc/nginx/snippets/shop-name.conf': 'server_name shop.test;\n',
      '/etc/nginx/snippets/shop-tls.conf': 'listen 443 ssl;\n',
    });
    const found = plan(files);
    assert.ok(found.kind === 'existing');
    assert.deepEqual(
      found.edits.map(({ path, after }) => [path, after]),
      [
        [
          SITE,
          `server {\n    include snippets/shop-*.conf;\n    include ${paths.nginxRoute}; # latchkey-agent\n}\n`,
        ],
      ],
    );
  });

  test('is named in a note', () => {
    const place = `The server block of shop.test is at ${SITE}, line 1.`;
    assert.deepEqual(listNotes('listen 443 ssl http2;'), [place]);
    assert.deepEqual(listNotes('listen 80; listen 443 ssl http2;'), [
      place,
      'It also answers without TLS: there the path of the agent redirects to https.',
    ]);
    assert.deepEqual(listNotes('listen 443 ssl;', 'http2 on;\n'), [place]);
  });

  const written = [
    'include /etc/nginx/snippets/latchkey-agent.conf ;',
    'include   /etc/nginx/snippets/latchkey-agent.conf;',
    'include snippets/latchkey-agent.conf;',
    'include ./snippets/../snippets/latchkey-agent.conf;',
    'include "/etc/nginx/snippets/latchkey-agent.conf";',
    "include 'snippets/latchkey-agent.conf';",
    'include snippets/latchkey-*.conf;',
    'include /etc/nginx/snippets/*.conf;',
  ];
  for (const line of written) {
    test(`stays unchanged when its owner wrote the include in another form: ${line}`, () => {
      const files = host({
        [SITE]: tls(`    ${line}\n`),
        [paths.nginxRoute]: renderRoute(options),
      });
      const found = plan(files);
      assert.ok(found.kind === 'existing', JSON.stringify(found));
      assert.deepEqual(found.edits, []);
    });
  }

  test('stays unchanged when it has the include', () => {
    const first = planSite(tls(''));
    assert.ok(first.kind === 'existing');
    const files = host({
      [SITE]: first.edits[0]?.after ?? '',
      [paths.nginxRoute]: renderRoute(options),
    });
    const second = plan(files);
    assert.deepEqual(second, { ...first, edits: [] });
  });

  test('contains only the include of this mode after a change of the mode', () => {
    const site = `server {\n    listen 80;\n    server_name shop.test;\n}\n${tls('')}`;
    const [route, challenge] = [paths.nginxRoute, paths.nginxChallenge];
    const proxied = change(site, 'proxy');
    const challenged = change(proxied, 'challenge');
    assert.deepEqual([proxied.includes(route), proxied.includes(challenge)], [true, false]);
    assert.deepEqual([challenged.includes(route), challenged.includes(challenge)], [false, true]);
    assert.equal(change(challenged, 'proxy'), proxied);
    const both = challenged.replace(/\}\n$/, `include ${route};\n}\n`);
    assert.equal(change(both, 'challenge'), challenged);
  });

  test('stays unchanged when the route was pasted', () => {
    const pasted = tls(renderRoute({ ...options, mutualTls: true }));
    assert.equal(planSite(pasted, { mutualTls: true }).kind, 'manual');
    assert.equal(planSite(pasted + tls('')).kind, 'manual');
    const open = tls(renderRoute(options));
    assert.equal(planSite(open).kind, 'manual');
    assert.match(
      reasonOf(planSite(open, { mutualTls: true })) ?? '',
      /^The path .* is taken already/,
    );
  });

  test('is accepted with an exemption of the path from redirects and access rules', () => {
    const exempt = 'if ($uri ~ "^/latchkey(/|$)") { break; }\nreturn 301 /x;\n';
    assert.equal(planSite(tls(exempt)).kind, 'existing');
    assert.equal(planSite(tls('break;\nreturn 301 /x;\n')).kind, 'existing');
    const main = MAIN.replace('types', 'deny all;\n types');
    assert.equal(plan(host({ [SITE]: tls('allow all;\n') }, main)).kind, 'existing');
    assert.equal(plan(host({ [SITE]: tls('') }, main)).kind, 'refused');
  });

  test('ignores conditions on other names, methods and plain HTTP', () => {
    const body = `
      if ($host = www.shop.test) { return 301 https://shop.test$request_uri; }
      if ($host != shop.test) { return 444; }
      if ($scheme = http) { return 301 https://$host$request_uri; }
      if ($request_method !~ ^(GET|HEAD)$) { return 405; }
      if ($host !~ ^(www\\.)?shop\\.test$) { return 444; }
      rewrite ^/old/ /new/ permanent;
      auth_basic off;
      location / { return 301 /x; }
      location ~ ^/latch { return 404; }
      location /latch { deny all; }
    `;
    assert.equal(planSite(tls(body)).kind, 'existing');
  });
});

test('accepts a site below the directory of the main file, wherever that lies', () => {
  const main = 'events {}\nhttp { include sites/*; }\n';
  const include = 'include ../../etc/nginx/snippets/latchkey-agent.conf;';
  const files = Object.entries({
    '/opt/nginx/nginx.conf': main,
    '/opt/nginx/sites/shop': tls(`    ${include}\n`),
  }).map(([path, text]) => ({ path, realPath: path, text, isWritable: true }));
  const found = plan(files);
  assert.ok(found.kind === 'existing', JSON.stringify(found));
  assert.deepEqual(found.edits, [], 'the relative include is that of the route');
});
