import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { paths } from '../paths.ts';
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
import { planChallengeOnly } from './plan-dedicated.ts';
import type { ProxyOptions } from './plan-proxy.ts';
import { renderRoute } from './render.ts';

/** Returns the site's file after a plan. */
function change(text: string, way: 'proxy' | 'challenge'): string {
  const files = host({ [SITE]: text });
  const found = way === 'proxy' ? plan(files) : planChallengeOnly(files, options);
  assert.ok(typeof found === 'object' && 'edits' in found, JSON.stringify(found));
  return found.edits[0]?.after ?? text;
}

/** Returns the notes of a plan for the domain's own block. */
function listNotes(listen: string, body = ''): unknown {
  const found = planSite(tls(body + SOUND_TLS, listen));
  assert.ok(found.kind === 'existing');
  return found.notes;
}

function explainBalanced(place: string): string {
  return `nginx takes connections to port 443 from a load balancer that speaks the PROXY protocol (${place}), so the route cannot be tested from here.`;
}

describe('a port with the PROXY protocol', () => {
  const balanced = 'server { listen 443 ssl proxy_protocol; server_name other.test; }\n';
  test('is refused, whichever block sets it', () => {
    assert.equal(
      reasonOf(planSite(tls('', 'listen 443 ssl proxy_protocol;'))),
      explainBalanced(`${SITE}, line 1`),
    );
    const first = '/etc/nginx/sites-enabled/first';
    assert.equal(
      reasonOf(plan(host({ [first]: balanced, [SITE]: tls('') }))),
      explainBalanced(`${first}, line 1`),
    );
    assert.equal(reasonOf(planSite(balanced)), explainBalanced(`${SITE}, line 1`));
  });

  test('is irrelevant on another port', () => {
    const elsewhere = `server { listen 8443 ssl proxy_protocol; server_name x.test; }\n${tls('')}`;
    assert.equal(planSite(elsewhere).kind, 'existing');
  });
});

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

describe('a refusal', () => {
  const reasons: readonly [text: string, reason: string, changes?: Partial<ProxyOptions>][] = [
    [
      tls('') + tls(''),
      `Several server blocks answer for shop.test on port 443 (${SITE}, line 1; ${SITE}, line 5), of which nginx uses one.`,
    ],
    [
      'server { listen 443 ssl; server_name ~^(?<sub>.+)\\.test$; }',
      `Whether a server block answers for shop.test on port 443 depends on a regular expression or a variable (${SITE}, line 1).`,
    ],
    [
      'server { listen 443 ssl; server_name ~(?>s)hop; }',
      `Whether a server block answers for shop.test on port 443 depends on a regular expression or a variable (${SITE}, line 1).`,
    ],
    [
      tls('', 'listen 443;'),
      `The server block of shop.test listens on port 443 without TLS (${SITE}, line 1).`,
    ],
    [tls('location = /latchkey { }\n'), `The path /latchkey is taken already (${SITE}, line 4).`],
    [tls('location /latchkey/x { }\n'), `The path /latchkey/x is taken already (${SITE}, line 4).`],
    [
      tls('location @latchkey_agent_refused { }\n'),
      `The path @latchkey_agent_refused is taken already (${SITE}, line 4).`,
      { mutualTls: true },
    ],
    [
      tls('location =/latchkey/health { }\n'),
      `The path /latchkey/health is taken already (${SITE}, line 4).`,
    ],
    [
      tls('return 301 https://www.shop.test$request_uri;\n'),
      `The server block of shop.test answers by "return" before it selects a location (${SITE}, line 4).`,
    ],
    [
      tls('if ($host = shop.test) {\n return 301 https://www.shop.test;\n}\n'),
      `The server block of shop.test answers by "return" before it selects a location (${SITE}, line 5).`,
    ],
    [
      tls('rewrite ^/(.*)$ https://www.shop.test/$1 permanent;\n'),
      `The server block of shop.test answers by "rewrite" before it selects a location (${SITE}, line 4).`,
    ],
    [tls('auth_basic "Ask";\n'), `The site requires a password on every path (${SITE}, line 4).`],
    [
      tls('auth_request /auth;\n'),
      `The site has another program authorize every request (${SITE}, line 4).`,
    ],
    [
      tls('allow 192.0.2.0/24;\ndeny all;\n'),
      `The site is open to some addresses only (${SITE}, line 5).`,
    ],
    [
      tls('access_by_lua_block { if x then y = "}" end }\n'),
      `A program in Lua decides on every request (${SITE}, line 4).`,
    ],
    [
      tls('ssl_verify_client on;\n'),
      `The site has its own settings for client certificates, "ssl_verify_client" (${SITE}, line 4).`,
      { mutualTls: true },
    ],
    [
      tls('ssl_trusted_certificate /x;\n'),
      `The site has its own settings for client certificates, "ssl_trusted_certificate" (${SITE}, line 4).`,
      { mutualTls: true },
    ],
    [
      tls('error_page 495 496 /cert.html;\n'),
      `The site has error pages that the one for invalid certificates would replace (${SITE}, line 4).`,
      { mutualTls: true },
    ],
    [
      `server {\n  listen 443 ssl "a"b;\n}`,
      `${SITE}, line 2 is not understood: something follows a quote without a space.`,
    ],
    [tls('# \u{FFFD}\n'), `The file of the site's server block is not in UTF-8 (${SITE}, line 1).`],
  ];
  for (const [text, reason, changes] of reasons) {
    test(`explains: ${reason}`, () => {
      const found = planSite(text, changes);
      assert.equal(reasonOf(found), reason);
      assert.ok(found.kind === 'refused');
      assert.ok(found.instructions.includes(renderRoute({ ...options, ...changes }).trimEnd()));
      assert.match(found.instructions, /nginx -t && systemctl reload nginx/);
    });
  }

  test('gives advice beside the text to paste', () => {
    const advice: readonly [text: string, expected: RegExp][] = [
      [tls('location = /latchkey { }\n'), /another path \(LATCHKEY_PROXY_PATH\)/],
      [
        tls('return 301 /x;\n'),
        / {4}if \(\$uri ~ "\^\/latchkey\(\/\|\$\)"\) \{\n {8}break;\n {4}\}\n/,
      ],
      [tls('auth_basic x;\n'), /Add "auth_basic off;"/],
      [tls('auth_request /x;\n'), /Add "auth_request off;"/],
      [tls('deny all;\n'), /Add "allow all;"/],
      [tls('', 'listen 443;'), /It must speak TLS/],
    ];
    for (const [text, expected] of advice) {
      const found = planSite(text);
      assert.ok(found.kind === 'refused');
      assert.match(found.instructions, expected);
    }
  });

  test('considers client certificates only with mutual TLS', () => {
    assert.equal(planSite(tls('ssl_verify_client on; error_page 495 /x;\n')).kind, 'existing');
  });

  test('protects inherited error pages', () => {
    const main = MAIN.replace('types', 'error_page 404 /404.html;\n types');
    const found = plan(host({ [SITE]: tls('') }, main), { mutualTls: true });
    assert.match(reasonOf(found) ?? '', /error pages .*nginx\.conf, line 4/);
    const own = plan(host({ [SITE]: tls('error_page 404 /x;\n') }, main), { mutualTls: true });
    assert.equal(own.kind, 'existing');
  });

  test('protects a file that lies elsewhere, is linked from elsewhere, or is read-only', () => {
    const [main, site] = host({ [SITE]: tls('') });
    assert.ok(main && site);
    const linked = plan([main, { ...site, realPath: '/srv/shop/nginx.conf' }]);
    assert.equal(
      reasonOf(linked),
      `The site's server block is kept outside /etc/nginx/ (${SITE}, line 1, at /srv/shop/nginx.conf).`,
    );
    assert.equal(
      reasonOf(plan([main, { ...site, isWritable: false }])),
      `The file of the site's server block cannot be written to (${SITE}, line 1).`,
    );
    const far = host({ '/srv/a.conf': tls('') }, MAIN.replace('sites-enabled/*', '/srv/*.conf'));
    assert.match(reasonOf(plan(far)) ?? '', /^The site's server block is kept outside/);
  });

  test('protects the servers of a stream', () => {
    const main = `${MAIN}stream { server { listen 443; proxy_pass 127.0.0.1:8443; } }\n`;
    const site = tls('', 'listen 127.0.0.1:8443 ssl;');
    assert.equal(
      reasonOf(plan(host({ [SITE]: site }, main))),
      'Port 443 is used by a "stream" of nginx, which forwards connections (/etc/nginx/nginx.conf, line 8).',
    );
    const pasted = site.replace(/\}\n$/, `${renderRoute(options)}}\n`);
    assert.equal(plan(host({ [SITE]: pasted }, main)).kind, 'manual');
  });
});

test('refuses circular includes', () => {
  const main = MAIN.replace('sites-enabled/*', 'nginx.conf');
  assert.equal(
    reasonOf(plan(host({}, main))),
    'The files of nginx include each other too often to be parsed.',
  );
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
