import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { identifyServer, renderInstructions } from './render-instructions.ts';

const options = {
  domain: 'monitor.test',
  proxyPath: '/latchkey',
  mutualTls: false,
  agentPort: 4096,
};

describe('instructions for another web server', () => {
  test('are chosen by the name of its process', () => {
    assert.deepEqual(
      ['apache2', 'httpd', 'caddy', 'haproxy', 'lighttpd', null].map(identifyServer),
      ['apache', 'apache', 'caddy', 'haproxy', 'other', 'other'],
    );
  });

  test('list the lines to paste, and how to load and check them', () => {
    assert.equal(
      renderInstructions('apache', options),
      `Apache (2.4.47 or newer) answers for this machine. First, once:

    a2enmod ssl headers proxy proxy_http proxy_wstunnel

Then put this into the <VirtualHost *:443> of monitor.test, before its own ProxyPass lines:

    <Proxy "https://127.0.0.1:4096/">
        SSLProxyEngine on
        SSLProxyVerify none
        SSLProxyCheckPeerCN off
        SSLProxyCheckPeerName off
        SSLProxyCheckPeerExpire off
    </Proxy>
    <Location "/latchkey">
        ProxyPreserveHost on
        RequestHeader set X-Real-IP "expr=%{REMOTE_ADDR}"
        RequestHeader set X-Forwarded-Proto "https"
    </Location>
    ProxyPass "/latchkey/" "https://127.0.0.1:4096/" upgrade=websocket connectiontimeout=60 timeout=86400 flushpackets=on
    ProxyPass "/latchkey" "https://127.0.0.1:4096/" upgrade=websocket connectiontimeout=60 timeout=86400 flushpackets=on

Test it and load it:

    apache2ctl configtest && systemctl restart apache2

Check it (it answers OK once the agent runs):

    curl https://monitor.test/latchkey/health

Viewers then connect to wss://monitor.test/latchkey.
`,
    );
  });

  test('keep the second line of a quoted text without indentation', () => {
    assert.ok(
      renderInstructions('caddy', options).includes(
        '    handle /latchkey/health {\n    \theader Content-Type text/plain\n    \trespond "OK\n" 200\n    }\n',
      ),
    );
  });

  for (const server of ['apache', 'caddy', 'haproxy', 'other'] as const) {
    test(`name the files for client certificates with mutual TLS (${server})`, () => {
      const files = /\/etc\/latchkey-agent\/pki\/(?:ca|proxy)\.(?:pem|key)/g;
      const named = (mutualTls: boolean): string[] =>
        [...new Set(renderInstructions(server, { ...options, mutualTls }).match(files))].sort();
      assert.deepEqual(named(false), []);
      assert.deepEqual(
        named(true),
        ['ca.pem', 'proxy.key', 'proxy.pem'].map((name) => `/etc/latchkey-agent/pki/${name}`),
      );
    });
  }
});
