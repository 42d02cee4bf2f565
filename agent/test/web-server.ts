import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A web server in the foreground, in a temporary directory. */
export interface WebServer extends AsyncDisposable {
  readonly directory: string;
  /** Sends a signal to its main process. */
  signal(name: NodeJS.Signals): void;
}

interface Command {
  readonly program: string;
  /** Receives the directory of the files. */
  readonly args: (directory: string) => readonly string[];
  readonly env?: (directory: string) => NodeJS.ProcessEnv;
  /** Contents by name, below the directory. */
  readonly files: Readonly<Record<string, string>>;
  /** A port on which it listens. */
  readonly port: number;
}

/**
 * Writes the files, starts the server and waits until it listens.
 * @throws Error with its output when it does not
 */
export async function startWebServer({
  program,
  args,
  env,
  files,
  port,
}: Command): Promise<WebServer> {
  const directory = mkdtempSync(join(tmpdir(), `latchkey-${program}-`));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const child = spawn(program, args(directory), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env?.(directory) },
  });
  const said: string[] = [];
  child.stderr.on('data', (data: Buffer) => void said.push(data.toString()));
  await waitForPort(child, port, said);
  return {
    directory,
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true });
    },
  };
}

async function waitForPort(
  child: ChildProcess,
  port: number,
  said: readonly string[],
): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`The web server did not start: ${said.join('')}`);
    }
    await sleep(20);
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // The port is still closed.
    return false;
  } finally {
    socket.destroy();
  }
}
