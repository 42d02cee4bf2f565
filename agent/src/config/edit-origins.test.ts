import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { setAllowedOrigins } from './edit-origins.ts';
import { parseConfig } from './load-config.ts';

const ORIGINS = ['https://console.example.com', '*'];
const TLS = 'tls: { certificate_file: /c.pem, key_file: /k.pem }\n';

test('changes one line of the example, and back', async () => {
  const path = new URL('../../agent.example.yaml', import.meta.url);
  const example = readFileSync(path, 'utf8');
  const changed = await setAllowedOrigins(example, ORIGINS);
  assert.equal(
    changed,
    example.replace('allowed_origins: []', 'allowed_origins: [ https://console.example.com, "*" ]'),
  );
  assert.equal(await setAllowedOrigins(changed, []), example);
});

test('keeps comments and other items of a list on several lines', async () => {
  const text = `${TLS}viewers:
  # Who may.
  allowed_origins:
    - https://a.example.com # The wall.
    - https://b.example.com
`;
  const added = await setAllowedOrigins(text, ['https://a.example.com', 'https://c.example.com']);
  assert.equal(added, text.replace('https://b.', 'https://c.'));
  const none = await parseConfig(await setAllowedOrigins(text, []), 'agent.yaml');
  assert.equal(none.allowedOrigins.size, 0);
});

for (const [name, text] of [
  ['no section for viewers', TLS],
  ['an empty section', `${TLS}viewers:\n`],
  ['another setting in the section', `${TLS}viewers:\n  tokens_file: /tokens\n`],
  ['a section on one line', `${TLS}viewers: { tokens_file: /tokens }\n`],
] as const) {
  test(`adds the setting to a file with ${name}`, async () => {
    const before = await parseConfig(text, 'agent.yaml');
    const after = await parseConfig(await setAllowedOrigins(text, ORIGINS), 'agent.yaml');
    assert.deepEqual(after, { ...before, allowedOrigins: new Set(ORIGINS) });
  });
}
