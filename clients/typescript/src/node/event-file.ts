import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { EventStore } from '../events/event-store.ts';
import { isMissing } from './file-store.ts';

const OWNER_ONLY = { mode: 0o600 };

/** Keeps events in `events.jsonl` of a folder, one a line. The folder is created. */
export function eventFile(folder: string): EventStore {
  const path = join(folder, 'events.jsonl');
  return {
    read() {
      try {
        return readFileSync(path, 'utf8');
      } catch (error) {
        if (isMissing(error)) return '';
        throw error;
      }
    },
    append(line) {
      try {
        appendFileSync(path, line, OWNER_ONLY);
      } catch (error) {
        if (!isMissing(error)) throw error;
        mkdirSync(folder, { recursive: true });
        appendFileSync(path, line, OWNER_ONLY);
      }
    },
    replace(lines) {
      mkdirSync(folder, { recursive: true });
      const temporary = `${path}.${process.pid}.tmp`;
      writeFileSync(temporary, lines, OWNER_ONLY);
      renameSync(temporary, path);
    },
  };
}
