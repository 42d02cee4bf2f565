import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainCertbot } from './kinds/certificate.ts';

/** Outputs of certbot 2.1 and 4.0, each with the beginning of its explanation. */
const OUTPUTS: readonly (readonly [string, RegExp])[] = [
  [
    'Could not bind TCP port 80 because it is already in use by another process on this system',
    /^Another program uses port 80, on which the authority validates/u,
  ],
  ['Another instance of Certbot is already running.', /^Another certbot is running/u],
  [
    'Error creating new order :: too many certificates (5) already issued for this exact set of domains',
    /^The authority has reached its rate limit for a\.example\.com/u,
  ],
  ['urn:ietf:params:acme:error:invalidContact', /^The authority rejects the e-mail address/u],
  [
    'Type:   dns\nDetail: DNS problem: NXDOMAIN looking up A for a.example.com\nSome challenges have failed.',
    /^The authority does not find a\.example\.com in the DNS/u,
  ],
  [
    'Type:   connection\nDetail: 203.0.113.5: Fetching http://a.example.com/: Connection refused\nSome challenges have failed.',
    /^The authority got no valid answer from http:\/\/a\.example\.com\//u,
  ],
  [
    'requests.exceptions.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed',
    /^The authority's own certificate is not trusted here/u,
  ],
  ['ValueError: Requesting 127.0.0.1/dir: Connection refused', /^The authority cannot be reached/u],
  ['Something new.', /^certbot could not obtain a certificate for a\.example\.com\.$/u],
];

test('explains each failure of certbot in one sentence with its fix', () => {
  const ended = { code: 1, stdout: '', fault: null, isMissing: false };
  for (const [stderr, sentence] of OUTPUTS) {
    assert.match(explainCertbot({ ...ended, stderr }, 'a.example.com'), sentence);
  }
  const missing = { ...ended, code: null, stderr: '', isMissing: true };
  assert.match(explainCertbot(missing, 'a.example.com'), /^certbot is not installed/u);
});
