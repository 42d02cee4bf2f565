import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { runProgram } from '../../system/run-program.ts';
import { createRoot, putLink, TCP_HEADER, tcpLine } from './detect-host.fixture.ts';
import { detectListeners } from './listeners.ts';

test('detects listeners of both families with address, process and unit', (t) => {
  const root = createRoot(t, {
    'proc/net/tcp': `${TCP_HEADER}${tcpLine('00000000:0050', '0A', 101)}${tcpLine('0100007F:1000', '0A', 102)}${tcpLine('0100007F:0050', '01', 103)}${tcpLine('00000000:0016', '0A', 104)}`,
    'proc/net/tcp6': `${TCP_HEADER}${tcpLine('00000000000000000000000000000000:01BB', '0A', 105)}${tcpLine('B80D0120000000000000000001000000:01BB', '0A', 106)}`,
    'proc/20/comm': 'nginx\n',
    'proc/20/cgroup': '0::/system.slice/nginx.service\n',
    'proc/21/comm': 'nginx\n',
    'proc/7/comm': 'MainThread\n',
    'proc/7/cgroup': '4:memory:/x\n1:name=systemd:/system.slice/latchkey-agent.service\n0::/\n',
  });
  putLink(root, 'proc/21/fd/3', 'socket:[101]');
  putLink(root, 'proc/20/fd/9', 'socket:[101]');
  putLink(root, 'proc/20/fd/10', 'socket:[105]');
  putLink(root, 'proc/20/fd/0', '/dev/null');
  putLink(root, 'proc/7/exe', '/usr/lib/latchkey-agent/lib/node (deleted)');
  putLink(root, 'proc/7/fd/20', 'socket:[102]');
  const nginx = { pid: 20, name: 'nginx', unit: 'nginx.service' };
  const agent = { pid: 7, name: 'node', unit: 'latchkey-agent.service' };
  assert.deepEqual(detectListeners({ root, runProgram }, [80, 443, 4096]), [
    { port: 80, address: '0.0.0.0', process: nginx },
    { port: 443, address: '::', process: nginx },
    { port: 443, address: '2001:db8::1', process: null },
    { port: 4096, address: '127.0.0.1', process: agent },
  ]);
});

test('removes control characters from the name of a listener', (t) => {
  const root = createRoot(t, {
    'proc/net/tcp': `${TCP_HEADER}${tcpLine('00000000:1000', '0A', 102)}`,
    'proc/7/comm': 'x\u001B[2J\u0007y\n',
  });
  putLink(root, 'proc/7/fd/20', 'socket:[102]');
  const [listener] = detectListeners({ root, runProgram }, [4096]);
  assert.equal(listener?.process?.name, 'x?[2J?y');
});

test('detects a port of this process on this machine', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const [listener] = detectListeners({ root: '', runProgram }, [address.port]);
  assert.deepEqual(
    [listener?.address, listener?.port, listener?.process?.pid, listener?.process?.name],
    ['127.0.0.1', address.port, process.pid, 'node'],
  );
});
