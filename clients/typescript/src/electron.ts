import { CALL, CHANGED, METHODS, STATE, type Method } from './electron/channels.ts';
import { refuse } from './answers/results.ts';
import type { Fetch } from './calls/fetch.ts';
import { isObject, textOrNull } from './json.ts';
import type { Latchkey as Client } from './latchkey.ts';
import { Latchkey as NodeClient, type NodeOptions } from './node.ts';
import type { OfflineOrder } from './offline/order.ts';

export * from './index.ts';

/** The parts of Electron that a client uses, as `require('electron')` has them in the main process. */
export interface Electron {
  readonly app: {
    getPath(name: 'userData'): string;
    getVersion(): string;
    on(event: 'browser-window-focus', listener: () => void): unknown;
    removeListener(event: 'browser-window-focus', listener: () => void): unknown;
  };
  /** Its `fetch` uses the proxy and the certificates of the system. */
  readonly net: { readonly fetch: Fetch };
  readonly ipcMain: {
    handle(channel: string, listener: (event: unknown, ...args: unknown[]) => unknown): void;
    on(channel: string, listener: (event: { returnValue: unknown }) => void): unknown;
    removeHandler(channel: string): void;
    removeAllListeners(channel: string): unknown;
  };
  readonly BrowserWindow: {
    getAllWindows(): readonly {
      readonly webContents: { send(channel: string, ...args: unknown[]): void };
    }[];
  };
}

/** As for Node.js; folder, version and network come from Electron. */
export type ElectronOptions = Omit<NodeOptions, 'folder' | 'appVersion' | 'fetch'> &
  Partial<Pick<NodeOptions, 'folder' | 'appVersion' | 'fetch'>>;

/** The license of a program on this machine. */
export type Latchkey = Client;

/** Which client is open: the windows ask one, and two would write the same file. */
const opened = new WeakMap<Electron['ipcMain'], object>();

export const Latchkey = {
  /**
   * Opens the license in the main process, once `app` is ready, keeps checking, and answers the windows: also after `close`, until
   * it is opened again.
   * @throws TypeError when an option is wrong
   * @throws Error when it is open already
   */
  async open(electron: Electron, options: ElectronOptions): Promise<Client> {
    const { ipcMain } = electron;
    if (opened.has(ipcMain)) {
      throw new Error(
        'Latchkey.open: the license is already open in this process; await close() before you open it again',
      );
    }
    const mark = {};
    opened.set(ipcMain, mark);
    const release = (): void => {
      if (opened.get(ipcMain) === mark) opened.delete(ipcMain);
    };
    try {
      return await openClient(electron, options, release);
    } catch (error) {
      release();
      throw error;
    }
  },
};

async function openClient(
  electron: Electron,
  options: ElectronOptions,
  onClosed: () => void,
): Promise<Client> {
  const { app, net } = electron;
  const client = await NodeClient.open({
    folder: app.getPath('userData'),
    appVersion: app.getVersion(),
    fetch: (url, init) => net.fetch(url, init),
    ...options,
  });
  const noticeFocus = (): void => client.noticeFocus();
  app.on('browser-window-focus', noticeFocus);
  const close = client.close.bind(client);
  client.close = async () => {
    app.removeListener('browser-window-focus', noticeFocus);
    await close();
    onClosed();
  };
  answerWindows(electron, client);
  client.keepChecking();
  return client;
}

/** Answers the windows, instead of a client that was closed. */
function answerWindows({ ipcMain, BrowserWindow }: Electron, client: Client): void {
  ipcMain.removeAllListeners(STATE);
  ipcMain.removeHandler(CALL);
  ipcMain.on(STATE, (event) => {
    event.returnValue = client.state;
  });
  const calls = createCalls(client);
  ipcMain.handle(CALL, (_event, name, argument) => {
    const method = METHODS.find((each) => each === name);
    return method === undefined ? refuse('unexpected') : calls[method](argument);
  });
  client.onChange((state) => {
    for (const { webContents } of BrowserWindow.getAllWindows()) webContents.send(CHANGED, state);
  });
}

/** A window is a page: everything that it sends is parsed. */
function createCalls(client: Client): Record<Method, (argument: unknown) => Promise<unknown>> {
  return {
    activate: (key) => client.activate(String(key)),
    startTrial: () => client.startTrial(),
    check: () => client.check('manual'),
    machines: () => client.machines(),
    moveHere: (activationId) => client.moveHere(String(activationId)),
    deactivate: () => client.deactivate(),
    offlineRequest: (order) => client.offlineRequest(readOrder(order)),
    acceptOffline: (text) => client.acceptOffline(String(text)),
    explain: () => client.explain(),
  };
}

function readOrder(order: unknown): OfflineOrder {
  const { product, name } = isObject(order) ? order : {};
  return { product: String(product), name: textOrNull(name) };
}
