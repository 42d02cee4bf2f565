import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ProxyOptions } from '../proxy-options.ts';
import { readDirectives } from './directives.ts';
import { renderChallenge, renderChallengeServer, renderRoute, renderServer } from './render.ts';

const options: ProxyOptions = {
  domain: 'monitor.test',
  proxyPath: '/latchkey',
  mutualTls: false,
  agentPort: 4096,
  viewersPerAddress: 64,
  version: '1.26.3',
  hasIpv6: true,
  needsChallenge: true,
  certificate: '/etc/letsencrypt/live/monitor.test/fullchain.pem',
  certificateKey: '/etc/letsencrypt/live/monitor.test/privkey.pem',
};

const FORWARDING = `proxy_pass https://127.0.0.1:4096/;
        proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection "upgrade";
        proxy_set_header Host $host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_ssl_server_name on;
        proxy_ssl_name monitor.test;
        proxy_ssl_verify off;
        proxy_buffering off;
        proxy_connect_timeout 60s;
        proxy_send_timeout 86400s;
        proxy_read_timeout 86400s;`;

const SERVER = `server {
    listen 443 ssl;
    listen [::]:443 ssl;
    http2 on;
    server_name monitor.test;

    ssl_certificate /etc/letsencrypt/live/monitor.test/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/monitor.test/privkey.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305;
    ssl_prefer_server_ciphers on;

    location = /latchkey/health {
        access_log off;
        default_type text/plain;
        return 200 "OK\\n";
    }

    location = /latchkey {
        ${FORWARDING}
    }

    location ^~ /latchkey/ {
        ${FORWARDING}
    }

    location / {
        default_type text/plain;
        return 404 "There is nothing here.\\n";
    }
}
`;

function listen(version: string, hasIpv6: boolean): string[] {
  const text = renderServer({ ...options, version, hasIpv6 });
  return text
    .split('\n')
    .filter((line) => /^ +(?:listen|http2)\b/.test(line))
    .map((line) => line.trim());
}

describe('rendered texts for nginx', () => {
  test('form a server block with the whole route', () => {
    assert.equal(renderServer(options), SERVER);
  });

  test('turn on HTTP/2 in the syntax of the version', () => {
    const before = ['listen 443 ssl http2;'];
    const since = ['listen 443 ssl;', 'http2 on;'];
    assert.deepEqual(
      ['1.18.0', '1.22.1', '1.24.0 (Ubuntu)', '1.25.0'].map((version) => listen(version, false)),
      [before, before, before, before],
    );
    assert.deepEqual(
      ['1.25.1', '1.26.3', '1.30.0', '2.0.0'].map((version) => listen(version, false)),
      [since, since, since, since],
    );
    assert.deepEqual(listen('1.22.1', true), [...before, 'listen [::]:443 ssl http2;']);
  });

  test('verify client certificates for the server, and enforce them on the route alone', () => {
    const nodes = readDirectives('/x', renderRoute({ ...options, mutualTls: true }));
    assert.deepEqual(
      nodes.filter(({ block }) => block === null).map(({ name, args }) => [name, ...args]),
      [
        ['ssl_client_certificate', '/etc/latchkey-agent/pki/ca.pem'],
        ['ssl_crl', '/etc/latchkey-agent/pki/crl.pem'],
        ['ssl_verify_client', 'optional'],
        ['ssl_verify_depth', '2'],
        ['error_page', '495', '=', '@latchkey_agent_refused'],
      ],
    );
    const enforcing = nodes
      .filter(({ block }) =>
        block?.directives.some(({ args }) => args[0] === '($ssl_client_verify'),
      )
      .map(({ args }) => args.join(' '));
    assert.deepEqual(enforcing, ['= /latchkey', '^~ /latchkey/']);
  });

  test('answer challenges in an own block, and first in a block of others', () => {
    assert.equal(
      renderChallengeServer(options),
      `server {
    listen 80;
    listen [::]:80;
    server_name monitor.test;

    location ^~ /.well-known/acme-challenge/ {
        root /var/lib/latchkey-agent-challenges;
        default_type text/plain;
        auth_basic off;
        allow all;
    }

    location / {
        return 301 https://$host$request_uri;
    }
}
`,
    );
    assert.deepEqual(
      readDirectives('/x', renderChallenge()).map(({ name, args }) => [name, ...args]),
      [
        ['if', '($uri', '~', '^/\\.well-known/acme-challenge/', ')'],
        ['location', '^~', '/.well-known/acme-challenge/'],
      ],
    );
  });
});
