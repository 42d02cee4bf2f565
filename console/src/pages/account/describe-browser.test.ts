import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeBrowser } from './describe-browser.ts';

test('names the browser and the system', () => {
  const cases = [
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox 140 on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
      'Edge 142 on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
      'Safari 18 on macOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
      'Chrome 142 on Android',
    ],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', 'Unknown browser'],
  ] as const;
  assert.deepEqual(
    cases.map(([agent]) => describeBrowser(agent)),
    cases.map(([, name]) => name),
  );
});
