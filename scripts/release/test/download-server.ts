/** A server of downloads, and install.sh, which verifies them. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { basename, join } from 'node:path';
import { tmpdir } from 'node:os';

import { CertificateFixture } from '../../../agent/test/certificates.ts';
import { listenOnFreePort } from '../../../server/test/ports.ts';

/** The exit code and the output of install.sh. */
interface Outcome {
  readonly code: number;
  readonly output: string;
  /** Whether it unpacked the package. */
  readonly unpacked: boolean;
}

export class DownloadServer implements AsyncDisposable {
  /** Files that are served instead of those in the folder; null for one that is missing. */
  readonly replaced = new Map<string, Buffer | null>();
  readonly #certificates = new CertificateFixture();
  readonly #folder = mkdtempSync(join(tmpdir(), 'latchkey-downloads-'));
  readonly #files: string;
  readonly #server: Server;
  readonly #authority: string;
  #port = 0;

  private constructor(files: string) {
    this.#files = files;
    const root = this.#certificates.createRoot('root');
    this.#authority = root.own.certificateFile;
    const { cert, key } = root.issueServer();
    this.#server = createServer({ cert, key }, ({ url = '' }, response) => {
      const content = this.#find(basename(url));
      response.writeHead(content === null ? 404 : 200).end(content);
    });
  }

  /** @param files the folder of the release */
  static async open(files: string): Promise<DownloadServer> {
    const server = new DownloadServer(files);
    server.#port = await listenOnFreePort(server.#server);
    return server;
  }

  #find(name: string): Buffer | null {
    const path = join(this.#files, name);
    return (
      this.replaced.get(name) ??
      (this.replaced.has(name) || !existsSync(path) ? null : readFileSync(path))
    );
  }

  /** Runs the install.sh of the release, which asks the package's installer for its help. */
  async install(archive: string): Promise<Outcome> {
    const [bin, mark] = [join(this.#folder, 'bin'), join(this.#folder, 'unpacked')];
    mkdirSync(bin, { recursive: true });
    rmSync(mark, { force: true });
    writeFileSync(join(bin, 'id'), '#!/bin/sh\necho 0\n', { mode: 0o755 });
    const tar = `#!/bin/sh\n: >'${mark}'\nPATH=\${PATH#*:} exec tar "$@"\n`;
    writeFileSync(join(bin, 'tar'), tar, { mode: 0o755 });
    const env = {
      PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin`,
      TMPDIR: this.#folder,
      CURL_CA_BUNDLE: this.#authority,
      LATCHKEY_AGENT_URL: `https://localhost:${this.#port}/${archive}`,
    };
    return new Promise((resolve) => {
      execFile(
        'sh',
        [join(this.#files, 'install.sh'), '--help'],
        { env },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : Number(error.code ?? -1);
          resolve({ code, output: stdout + stderr, unpacked: existsSync(mark) });
        },
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    this.#certificates[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true });
  }
}
