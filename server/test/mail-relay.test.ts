import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';

import { eventually } from './eventually.ts';
import { startMailRelay } from './mail-relay.ts';

const relay = await startMailRelay();
after(() => relay.close());

test('discards a partial message, and accepts the next one', async () => {
  await using dying = await openConversation();
  await dying.say('DATA');
  dying.socket.write('Subject: half\r\n\r\nhalf a mes');
  dying.socket.resetAndDestroy();
  await using whole = await openConversation();
  await whole.say('DATA');
  await whole.say('Subject: whole\r\n\r\na message\r\n.');
  await eventually(() => relay.mails.length > 0);
  assert.deepEqual(
    relay.mails.map(({ raw }) => raw),
    ['Subject: whole\r\n\r\na message\r\n'],
  );
});

/** Sends the commands before a message. */
async function openConversation() {
  const socket = connect(relay.port, '127.0.0.1');
  await once(socket, 'data');
  const say = async (line: string) => {
    const answered = once(socket, 'data');
    socket.write(`${line}\r\n`);
    await answered;
  };
  for (const line of ['EHLO shop', 'MAIL FROM:<shop@example.com>', 'RCPT TO:<ada@example.com>']) {
    await say(line);
  }
  return { socket, say, [Symbol.asyncDispose]: async () => void socket.destroy() };
}
