import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { host, MAIN, options, plan, planSite, reasonOf, SITE, tls } from './plan-proxy.fixture.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import { renderRoute } from './render.ts';

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
