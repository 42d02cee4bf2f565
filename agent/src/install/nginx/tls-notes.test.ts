import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { host, MAIN, plan, SITE, SOUND_TLS, tls } from './plan-proxy.fixture.ts';

const NAMED = 'The server block of shop.test is at';
const LEFT = 'The installer does not change it, because it affects every visitor of the site.';

/** Returns the notes on a block, without its location. */
function listNotes(site: string, version = '1.22.1', main = MAIN): readonly string[] {
  const found = plan(host({ [SITE]: site }, main), { version });
  assert.ok(found.kind === 'existing');
  return found.notes.filter((note) => !note.startsWith(NAMED));
}

const sound = tls(SOUND_TLS, 'listen 443 ssl http2;');
const protocols = (text: string): string => sound.replace('ssl_protocols TLSv1.2 TLSv1.3;', text);

describe('the plan for a block of others', () => {
  test('notes nothing for a block with the recommended TLS settings and HTTP/2', () => {
    assert.deepEqual(listNotes(sound), []);
    const inMain = MAIN.replace('http {', `http {\n${SOUND_TLS}`);
    assert.deepEqual(listNotes(tls('', 'listen 443 ssl http2;'), '1.22.1', inMain), []);
  });

  test('notes versions of TLS that are too old, with file and line', () => {
    assert.deepEqual(listNotes(protocols('ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;')), [
      `It accepts TLSv1 and TLSv1.1 (${SITE}, line 4): set "ssl_protocols TLSv1.2 TLSv1.3;". TLS before 1.2 has known weaknesses. ${LEFT}`,
    ]);
  });

  test('notes that TLS 1.3 is missing', () => {
    assert.deepEqual(listNotes(protocols('ssl_protocols TLSv1.2;')), [
      `It does not accept TLSv1.3 (${SITE}, line 4): set "ssl_protocols TLSv1.2 TLSv1.3;". TLS before 1.2 has known weaknesses. ${LEFT}`,
    ]);
  });

  test('uses the default of the version where nothing is set', () => {
    const unset = protocols('');
    assert.match(
      listNotes(unset, '1.22.1')[0] ?? '',
      /^It accepts TLSv1 and TLSv1\.1 and does not accept TLSv1\.3 \(the default of nginx 1\.22\.1\)/u,
    );
    assert.match(listNotes(unset, '1.26.3')[0] ?? '', /^It accepts TLSv1 and TLSv1\.1 \(/u);
    assert.deepEqual(listNotes(unset, '1.27.3'), []);
  });

  test('notes that clients choose the cipher suite', () => {
    const off = sound.replace('ciphers on;', 'ciphers off;');
    assert.deepEqual(listNotes(off), [
      `It lets clients choose the cipher suite (${SITE}, line 5): set "ssl_prefer_server_ciphers on;". ${LEFT}`,
    ]);
    const unset = sound.replace('ssl_prefer_server_ciphers on;', '');
    assert.match(listNotes(unset)[0] ?? '', /\(the default of nginx\): set/u);
  });

  test('notes missing HTTP/2 in the syntax of the version', () => {
    const without = tls(SOUND_TLS);
    assert.deepEqual(listNotes(without), [
      `It offers no HTTP/2, which "listen 443 ssl http2;" adds. ${LEFT}`,
    ]);
    assert.deepEqual(listNotes(without, '1.27.3'), [
      `It offers no HTTP/2, which "http2 on;" adds. ${LEFT}`,
    ]);
    const other = 'server { listen 443 ssl; server_name other.test; http2 on; }\n';
    assert.equal(listNotes(without + other, '1.27.3').length, 1);
    const sharing = 'server { listen 443 ssl http2; server_name other.test; }\n';
    assert.deepEqual(listNotes(without + sharing), []);
  });
});
