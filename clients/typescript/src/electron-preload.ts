import type { Machines } from './answers/machine.ts';
import type { Result } from './answers/results.ts';
import { CALL, CHANGED, STATE } from './electron/channels.ts';
import type { OfflineOrder } from './offline/order.ts';
import type { LicenseState } from './state/state.ts';

/** What the main process answers to each call of a window. */
export interface Answers {
  readonly activate: Result;
  readonly startTrial: Result;
  readonly check: Result;
  readonly machines: Machines;
  readonly moveHere: Result;
  readonly deactivate: Result;
  readonly offlineRequest: Result<{ readonly request: string }>;
  readonly acceptOffline: Result;
  readonly explain: string;
}

/** The parts of Electron's `ipcRenderer` that a preload script passes. What arrives was sent by this package in the main process. */
export interface IpcRenderer {
  invoke<Name extends keyof Answers>(
    channel: string,
    method: Name,
    argument: unknown,
  ): Promise<Answers[Name]>;
  sendSync(channel: string): LicenseState;
  on(channel: string, listener: (event: unknown, state: LicenseState) => void): unknown;
}

/** The license as a window sees it: functions only, which `contextBridge` passes on. */
export interface WindowLatchkey {
  /** What the program may do now. */
  state(): LicenseState;
  has(feature: string): boolean;
  onChange(listener: (state: LicenseState) => void): void;
  activate(key: string): Promise<Result>;
  startTrial(): Promise<Result>;
  check(): Promise<Result>;
  machines(): Promise<Machines>;
  moveHere(activationId: string): Promise<Result>;
  deactivate(): Promise<Result>;
  offlineRequest(order: OfflineOrder): Promise<Result<{ readonly request: string }>>;
  acceptOffline(text: string): Promise<Result>;
  explain(): Promise<string>;
}

/**
 * Connects a window with the license of the main process, in a preload script:
 * `contextBridge.exposeInMainWorld('latchkey', connectWindow(ipcRenderer))`.
 */
export function connectWindow(ipcRenderer: IpcRenderer): WindowLatchkey {
  const call = <Name extends keyof Answers>(
    method: Name,
    argument?: unknown,
  ): Promise<Answers[Name]> => ipcRenderer.invoke(CALL, method, argument);
  const state = (): LicenseState => ipcRenderer.sendSync(STATE);
  return {
    state,
    has(feature) {
      const present = state();
      return present.mayRun && present.features.includes(feature);
    },
    onChange(listener) {
      ipcRenderer.on(CHANGED, (_event, changed) => listener(changed));
    },
    activate: (key) => call('activate', key),
    startTrial: () => call('startTrial'),
    check: () => call('check'),
    machines: () => call('machines'),
    moveHere: (activationId) => call('moveHere', activationId),
    deactivate: () => call('deactivate'),
    offlineRequest: (order) => call('offlineRequest', order),
    acceptOffline: (text) => call('acceptOffline', text),
    explain: () => call('explain'),
  };
}
