/** The names of the messages between the main process and the windows. */
export const CALL = 'latchkey:call';
export const STATE = 'latchkey:state';
export const CHANGED = 'latchkey:changed';

/** What a window may call. Events and consent are left to the main process, which knows its user. */
export const METHODS = [
  'activate',
  'startTrial',
  'check',
  'machines',
  'moveHere',
  'deactivate',
  'offlineRequest',
  'acceptOffline',
  'explain',
] as const;

export type Method = (typeof METHODS)[number];
