import { connect, type Socket } from 'node:net';

import { BodyReader, decodeMessage, encodeCall, type Message } from './message.ts';

/** systemd answers within milliseconds. */
const TIMEOUT_MS = 5_000;

/** Room for tens of thousands of units. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** More are not named. */
const MAX_UNITS = 100;

const BUS = 'org.freedesktop.DBus';
const SYSTEMD = 'org.freedesktop.systemd1';

const HELLO_SERIAL = 1;
const LIST_SERIAL = 2;

const HELLO = {
  serial: HELLO_SERIAL,
  destination: BUS,
  path: '/org/freedesktop/DBus',
  interface: BUS,
  member: 'Hello',
};

const LIST = {
  serial: LIST_SERIAL,
  destination: SYSTEMD,
  path: '/org/freedesktop/systemd1',
  interface: `${SYSTEMD}.Manager`,
  member: 'ListUnitsFiltered',
  texts: ['failed'],
};

/**
 * Asks systemd for the units that failed, over the system's bus, as any account may (org.freedesktop.systemd1(5)). It
 * costs a connection and no process.
 * @param socketPath the bus, /run/dbus/system_bus_socket
 * @returns their names; null where there is no bus or no systemd on it
 * @throws when what is there does not speak D-Bus, or does not answer in 5 seconds
 */
export async function listFailedUnits(socketPath: string): Promise<string[] | null> {
  const socket = connect(socketPath);
  socket.setTimeout(TIMEOUT_MS, () => {
    socket.destroy(new Error('The bus does not answer.'));
  });
  try {
    const answer = await converse(socket);
    return answer.kind === 'return' ? readUnits(answer.body) : null;
  } catch (error) {
    if (isNoBus(error)) return null;
    throw error;
  } finally {
    socket.destroy();
  }
}

/** Signs in by the account of the process, says hello, asks, and gives the answer to the question. */
async function converse(socket: Socket): Promise<Message> {
  const account = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
  socket.write(`\0AUTH EXTERNAL ${account}\r\n`);
  let received = Buffer.alloc(0);
  let isSignedIn = false;
  for await (const chunk of socket) {
    received = Buffer.concat([received, Buffer.from(chunk)]);
    if (!isSignedIn) {
      const end = received.indexOf('\r\n');
      if (end === -1) continue;
      if (!received.toString('latin1').startsWith('OK ')) throw new Error('The bus refuses.');
      isSignedIn = true;
      received = received.subarray(end + 2);
      socket.write(Buffer.concat([Buffer.from('BEGIN\r\n'), encodeCall(HELLO), encodeCall(LIST)]));
    }
    for (let message = decodeMessage(received, MAX_ANSWER_BYTES); message !== null;) {
      if (message.replySerial === LIST_SERIAL) return message;
      received = received.subarray(message.lengthBytes);
      message = decodeMessage(received, MAX_ANSWER_BYTES);
    }
  }
  throw new Error('The bus hung up.');
}

/** A list of units, each with ten values, of which the first is the name. */
function readUnits(body: Buffer): string[] {
  const reader = new BodyReader(body);
  const length = reader.readNumber();
  reader.alignTo(8);
  const end = reader.at + length;
  const names: string[] = [];
  while (reader.at < end && names.length < MAX_UNITS) {
    reader.alignTo(8);
    names.push(reader.readText());
    // Description, load state, active state, sub-state, unit that it follows, path; then a job: number, type, path.
    for (let value = 0; value < 6; value += 1) reader.readText();
    reader.readNumber();
    for (let value = 0; value < 2; value += 1) reader.readText();
  }
  return names.sort();
}

function isNoBus(error: unknown): boolean {
  const codes = new Set(['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTDIR', 'ENOTSUP']);
  return error instanceof Error && 'code' in error && codes.has(String(error.code));
}
