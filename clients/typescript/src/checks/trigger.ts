/** Why a client asks: at its start, by time, at the front again, after sleep, with a network again, or because the user wants it. */
export type Trigger = 'startup' | 'scheduled' | 'foreground' | 'wake' | 'reconnect' | 'manual';
